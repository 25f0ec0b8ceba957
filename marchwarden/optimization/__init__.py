"""Compiles a program for a model: DSPy's optimizers search a better prompt for each stage on the train questions.

A prompt is kept only where the dev questions show that it helps. Read in this order: compilation.py (a whole
compile), stage_search.py (one stage), optimizers.py, student.py (the DSPy module that is optimized), spending.py (the
budget), validation.py (the comparison on dev).
"""
