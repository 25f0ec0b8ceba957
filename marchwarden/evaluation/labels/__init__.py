"""Labelled questions, and what of a result they are compared with."""
