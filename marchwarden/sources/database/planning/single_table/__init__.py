"""A question over one table → one SELECT, by families of questions: positions, extremes, counts, comparisons."""
