"""Judgements by rule: relevance, support, quantities, conflicts, confidence."""
