"""A sum of small decision trees that was fitted elsewhere, read from JSON.

Own reader beside scikit-learn, with which evals/claims/fit.py fits the trees: that takes 100 MB and a second to
import, to walk a few hundred small trees.
"""

from __future__ import annotations

import gzip
import math
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from pydantic import BaseModel


class Tree(BaseModel):
    """A binary tree as lists by node; the first node is the root."""

    feature: list[int]
    """Number of the feature that a node asks for, from 0; -1 at a leaf."""
    limit: list[float]
    """Largest value of the feature that goes left."""
    left: list[int]
    right: list[int]
    value: list[float]
    """Part of the log odds that a leaf adds."""

    def add(self, values: list[float]) -> float:
        node = 0
        while self.feature[node] >= 0:
            node = self.left[node] if values[self.feature[node]] <= self.limit[node] else self.right[node]
        return self.value[node]


class BoostedTrees(BaseModel):
    features: list[str]
    """Names of the features, in the order of their numbers."""
    start: float
    """Log odds before any tree."""
    trees: list[Tree]
    threshold: float
    """Least probability that counts as yes, chosen on the fitting data."""
    weights: dict[str, float]
    """Weight of each common term: the logarithm of how rare it is."""
    other_weight: float
    """Weight of every other term."""

    def probability(self, features: Mapping[str, float]) -> float:
        """Return the probability, 0–1. A feature that the model does not know is passed over."""
        values = [features[name] for name in self.features]
        odds = self.start + sum(tree.add(values) for tree in self.trees)
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, odds))))

    def weigh(self, term: str) -> float:
        return self.weights.get(term, self.other_weight)


@cache
def load_entailment() -> BoostedTrees:
    """Read the model that says how likely a quote entails a claim, on first use, once a process."""
    packed = (files("marchwarden.judge") / "entailment.json.gz").read_bytes()
    return BoostedTrees.model_validate_json(gzip.decompress(packed))
