"""Every duty of the contract has tests, and they exist."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.duties import DUTIES, GAPS


def test_all_ten_duties_are_named() -> None:
    assert [int(duty.split()[0]) for duty in DUTIES] == list(range(1, 11))
    assert set(GAPS) <= set(DUTIES)


@pytest.mark.parametrize("test", sorted({test for tests in DUTIES.values() for test in tests}))
def test_a_named_test_exists(test: str) -> None:
    file, name = test.split("::")
    tree = ast.parse((Path(__file__).parent / file).read_text(encoding="utf-8"))
    assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
