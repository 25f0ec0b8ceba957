"""Trained judgements: small models and tables, read from data files that scripts under evals/ make again."""
