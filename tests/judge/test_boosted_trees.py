"""Fitted trees are read and summed, and the shipped model knows its features."""

from __future__ import annotations

import pytest

from marchwarden.evidence.entailment.features import measure
from marchwarden.judge.boosted_trees import BoostedTrees, Tree, load_entailment


def test_each_tree_adds_the_value_of_the_leaf_that_the_features_lead_to() -> None:
    tree = Tree(feature=[1, -1, -1], limit=[0.5, 0, 0], left=[1, 0, 0], right=[2, 0, 0], value=[0, -2.0, 2.0])
    model = BoostedTrees(
        features=["a", "b"], start=0.0, trees=[tree, tree], threshold=0.5, weights={"rare": 3.0}, other_weight=5.0
    )
    assert model.probability({"a": 9, "b": 0.5}) == pytest.approx(0.018, abs=0.001)
    assert model.probability({"a": 0, "b": 0.6, "unknown": 1}) == pytest.approx(0.982, abs=0.001)
    assert (model.weigh("rare"), model.weigh("never seen")) == (3.0, 5.0)


def test_the_shipped_model_finds_every_feature_that_it_asks_for() -> None:
    model = load_entailment()
    found = measure("Acme bought Zenith.", ["Acme acquired Zenith in 2019."], "", model.weigh)
    assert set(model.features) <= set(found)
    assert 0 < model.threshold < 1
