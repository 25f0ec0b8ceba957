"""Meaning that a page gives by markup alone, written out as text: exponents, formulas, lists, spanned cells."""
