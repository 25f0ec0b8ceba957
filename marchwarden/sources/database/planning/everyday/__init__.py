"""Everyday words in questions: forms of the words of names and values, verbs of amounts, days and months."""
