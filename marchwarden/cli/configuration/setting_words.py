"""The sentence that settings.py has under each setting, for messages and for the page of settings."""

from __future__ import annotations

import ast
import itertools
from pathlib import Path

from marchwarden import settings


def setting_sentences() -> dict[str, str]:
    """Return what each setting means, by its name. Pydantic would read this for every start, as descriptions."""
    tree = ast.parse(Path(settings.__file__).read_text(encoding="utf-8"))
    body = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Settings").body
    return {
        field.target.id: " ".join(text.value.value.split())
        for field, text in itertools.pairwise(body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
        and isinstance(text.value.value, str)
    }
