"""Metrics: functions from a question and its result to figures."""
