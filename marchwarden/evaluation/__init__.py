"""Scoring a researcher on labelled questions. It uses the researcher; nothing in the loop knows that it exists."""
