"""Fitting the numbers that decide where no model does."""
