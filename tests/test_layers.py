"""Imports point one way, folders stay small, and the paths that must be quick import nothing heavy."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "marchwarden"

LAYERS: tuple[tuple[str, ...], ...] = (
    (
        "contract",
        "errors",
        "environment",
        "settings",
        "source_table",
        "budget",
        "observations",
        "files",
        "logs",
    ),
    ("http", "text", "store", "trace", "sharing", "programs", "ledger"),
    ("injection", "reading", "judge", "lm"),
    ("evidence", "corpus", "frozen_web"),
    ("stages", "sources"),
    ("agent",),
    ("server", "audit"),
    ("orchestrator", "evaluation", "execution"),
    ("api",),
    ("optimization",),
    ("cli", "__main__"),
)
"""Lowest first: a module imports its own layer or lower ones."""

MODULES_PER_FOLDER = 12
# Modules of which each imports the next one at its top.
LONGEST_CHAIN = 16

HEAVY = {"dspy", "mcp", "anthropic", "litellm", "trafilatura", "datasets", "tavily", "tantivy", "numpy", "bm25s"}


@cache
def modules() -> list[Path]:
    return sorted(path for path in PACKAGE.rglob("*.py") if path.name != "__init__.py" or path.parent != PACKAGE)


def part_of(path: Path) -> str:
    """The folder or module directly below the package that a file belongs to."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def layer_of(name: str) -> int:
    return next(number for number, names in enumerate(LAYERS) if name in names)


def dotted(path: Path) -> str:
    return ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


NAMES = {dotted(path) for path in modules()}


@cache
def imports_of(path: Path, *, types: bool = False) -> set[str]:
    """The modules of ours that a file imports, at its top or inside functions; with `types`, for type checking too."""
    tree = parsed(path)
    return _ours(ast.walk(tree if types else _without_type_checking(tree)))


def _ours(nodes: Iterable[ast.AST]) -> set[str]:
    found = set()
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("marchwarden"):
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= inner & NAMES or {node.module or ""} & NAMES
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name in NAMES}
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
    for node in _without_type_checking(parsed(path)).body:
        if isinstance(node, ast.ImportFrom) and node.level == 0:
            found.add((node.module or "").split(".")[0])
        elif isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
    return found


def test_modules_import_their_own_layer_or_lower_ones() -> None:
    above = {
        (dotted(path), name)
        for path in modules()
        for name in imports_of(path)
        if layer_of(name.split(".")[1]) > layer_of(part_of(path))
    }
    assert above == set()


def test_every_module_has_a_layer() -> None:
    assert {part_of(path) for path in modules()} <= {name for names in LAYERS for name in names}


def test_no_modules_import_each_other_in_a_circle() -> None:
    left = {dotted(path): imports_of(path, types=True) - {dotted(path)} for path in modules()}
    while free := {name for name, needs in left.items() if not needs & left.keys()}:
        left = {name: needs for name, needs in left.items() if name not in free}
    assert not left, "in a circle, or above one"


def test_the_longest_chain_of_imports_is_short() -> None:
    needs = {dotted(path): _ours(_without_type_checking(parsed(path)).body) - {dotted(path)} for path in modules()}

    @cache
    def chain(name: str) -> tuple[str, ...]:
        return (name, *max(map(chain, needs[name]), key=len, default=()))

    longest = max(map(chain, needs), key=len)
    assert len(longest) < LONGEST_CHAIN, " → ".join(longest)


def test_no_folders_import_each_other_in_a_circle() -> None:
    left: dict[str, set[str]] = {part_of(path): set() for path in modules()}
    for path in modules():
        left[part_of(path)] |= {name.split(".")[1] for name in imports_of(path)} - {part_of(path)}
    while free := {name for name, needs in left.items() if not needs & left.keys()}:
        left = {name: needs for name, needs in left.items() if name not in free}
    assert not left, "in a circle, or above one"


def test_a_folder_has_few_modules() -> None:
    sizes = Counter(path.parent.relative_to(PACKAGE).as_posix() for path in modules() if path.name != "__init__.py")
    assert {folder: size for folder, size in sizes.items() if size > MODULES_PER_FOLDER} == {}


def test_no_file_name_stands_twice() -> None:
    names = Counter(path.name for path in modules() if path.name != "__init__.py")
    assert {name: count for name, count in names.items() if count > 1} == {}


def test_the_contract_imports_nothing_of_ours() -> None:
    assert imports_of(PACKAGE / "contract.py") == set()


@pytest.mark.parametrize(
    "part", ["contract", "errors", "settings", "budget", "cli", "trace", "stages", "sources", "__init__"]
)
def test_what_must_start_quickly_imports_nothing_heavy_at_its_top(part: str) -> None:
    paths = [PACKAGE / f"{part}.py"] if (PACKAGE / f"{part}.py").exists() else list((PACKAGE / part).rglob("*.py"))
    assert paths
    assert {name for path in paths for name in top_imports_of(path)} & HEAVY == set()


def test_only_settings_reads_the_environment() -> None:
    """The command line looks at two variables before settings can be imported in time, and passes others on; LiteLLM,
    tiktoken and onnxruntime can be kept from the network by a variable alone."""
    readers = {
        path.relative_to(PACKAGE).as_posix()
        for path in modules()
        if "os.environ" in (text := path.read_text(encoding="utf-8")) or "getenv" in text
    }
    assert readers - {"environment.py", "settings.py"} <= {
        "cli/early.py",
        "judge/answering.py",
        "server/worker.py",
        "cli/__init__.py",
        "lm/resolve.py",
        "lm/counting.py",
    }


def test_only_the_console_prints() -> None:
    printers = {
        path.relative_to(PACKAGE).as_posix()
        for path in modules()
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    }
    assert printers <= {"cli/views/console.py"}


_DIALECT = re.compile(r"(what|whether|how|as|that|where|when|why|who|which)\b", re.IGNORECASE)


def test_docstrings_open_with_a_noun_or_a_verb() -> None:
    """A string below a field is its docstring."""
    texts = [
        (dotted(path), node.value.value.strip())
        for path in modules()
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    ]
    assert len(texts) > 4_000
    assert [(name, text[:60]) for name, text in texts if _DIALECT.match(text)] == []
