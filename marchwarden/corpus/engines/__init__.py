"""Engines that keep the index of a corpus: one module each, behind the protocols of `corpus_index.py`."""
