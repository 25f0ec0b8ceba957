"""Imports point one way, and the paths that must be quick import nothing heavy."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "marchwarden"

LAYERS: tuple[tuple[str, ...], ...] = (
    ("contract", "logs"),
    ("errors", "observations", "files"),
    ("settings", "ranking", "parameters"),
    ("budget", "ledger", "programs", "embedding"),
    ("trace",),
    ("tools", "lm"),
    ("stages",),
    ("researchers", "conclusion", "leads"),
    ("narration",),
    ("researcher",),
    ("api", "preloaded", "preloaded_model", "worker_process", "worker"),
    ("markdown",),
    ("evaluation",),
    ("mcp_server",),
    ("server",),
    ("cli", "__main__"),
)
"""Lowest first: a module imports its own layer or lower ones. Protocols and plain data of a layer are its own."""

HEAVY = {"dspy", "mcp", "anthropic", "litellm", "trafilatura", "datasets", "tavily", "tantivy", "numpy", "bm25s"}


def modules() -> list[Path]:
    return sorted(path for path in PACKAGE.rglob("*.py") if path.name != "__init__.py" or path.parent != PACKAGE)


def name_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def layer_of(name: str) -> int:
    return next(number for number, names in enumerate(LAYERS) if name in names)


def imports_of(path: Path) -> set[str]:
    """The parts of ours that a module imports, at its top or inside functions, type checking aside."""
    found = set()
    for node in ast.walk(_without_type_checking(ast.parse(path.read_text(encoding="utf-8")))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("marchwarden."):
            found.add((node.module or "").split(".")[1])
        elif isinstance(node, ast.ImportFrom) and node.module == "marchwarden":
            found |= {alias.name for alias in node.names if (PACKAGE / alias.name).exists()}
        elif isinstance(node, ast.Import):
            found |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("marchwarden.")}
    return found


def _without_type_checking(tree: ast.Module) -> ast.Module:
    body = [
        node
        for node in tree.body
        if not (isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING")
    ]
    return ast.Module(body=body, type_ignores=[])


def top_imports_of(path: Path) -> set[str]:
    found = set()
    for node in _without_type_checking(ast.parse(path.read_text(encoding="utf-8"))).body:
        if isinstance(node, ast.ImportFrom) and node.level == 0:
            found.add((node.module or "").split(".")[0])
        elif isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
    return found


@pytest.mark.parametrize("path", modules(), ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_a_module_imports_its_own_layer_or_lower_ones(path: Path) -> None:
    own = layer_of(name_of(path))
    above = {name for name in imports_of(path) if layer_of(name) > own}
    assert not above


def test_every_module_has_a_layer() -> None:
    assert {name_of(path) for path in modules()} <= {name for names in LAYERS for name in names}


def test_the_contract_imports_nothing_of_ours() -> None:
    assert imports_of(PACKAGE / "contract.py") == set()


@pytest.mark.parametrize(
    "part", ["contract", "errors", "settings", "budget", "cli", "trace", "stages", "researchers", "__init__"]
)
def test_what_must_start_quickly_imports_nothing_heavy_at_its_top(part: str) -> None:
    paths = [PACKAGE / f"{part}.py"] if (PACKAGE / f"{part}.py").exists() else list((PACKAGE / part).rglob("*.py"))
    assert paths
    assert {name for path in paths for name in top_imports_of(path)} & HEAVY == set()


def test_only_settings_reads_the_environment() -> None:
    """The command line looks at two variables before settings can be imported in time, and passes others on; LiteLLM
    can be kept from the network by a variable alone."""
    readers = {
        path.relative_to(PACKAGE).as_posix()
        for path in modules()
        if "os.environ" in (text := path.read_text(encoding="utf-8")) or "getenv" in text
    }
    assert readers - {"settings.py"} <= {"cli/early.py", "cli/child_server.py", "cli/__init__.py", "lm/resolve.py"}


def test_only_render_prints() -> None:
    printers = {
        path.relative_to(PACKAGE).as_posix()
        for path in modules()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    }
    assert printers <= {"cli/render.py"}
