"""Examples of single stages, and their metrics, derived from labelled questions: nothing is labelled twice."""
