"""Fits a program to a model: a better prompt for each stage, found by DSPy's optimizers on the train questions and
kept only where the dev questions say so.

The order of reading is compilation.py (a whole compile), stage_search.py (one stage), optimizers.py, student.py (what
an optimizer turns), spending.py (what may be spent), validation.py (whether it helped).
"""
