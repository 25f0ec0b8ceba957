"""A question beside what was said before: what it names, whether it is complete, what it leaves out."""
