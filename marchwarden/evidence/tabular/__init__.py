"""Judgements by rule on the rows of tables."""
