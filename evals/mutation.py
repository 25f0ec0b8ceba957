"""How many of a fixed sample of changes to rules the tests notice: `make mutation`.

    python evals/mutation.py [--sample 40] [--root FOLDER] [marchwarden/budget.py=tests/test_budget.py ...]

Own code, since mutmut and cosmic-ray start an interpreter for each mutant, two seconds of imports. Here a mutant is
a fork of a process that has the libraries already, and a seed gives the same changes whenever it is run, so that two
states of the tests can be compared.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import copy
import importlib
import importlib.abc
import importlib.util
import os
import random
import resource
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

TRIED = (
    "marchwarden/budget.py=tests/test_budget.py",
    "marchwarden/ledger.py=tests/test_ledger.py",
    "marchwarden/trace/verify.py=tests/trace/test_verify.py",
    "marchwarden/http/addresses.py=tests/http/test_addresses.py,tests/http/test_hostile_urls.py",
    "marchwarden/lm/meter.py=tests/lm/test_meter.py",
    "marchwarden/sources/database/allow_list.py=tests/sources/database/test_attacks.py",
    "marchwarden/store/content_store.py=tests/store/test_content_store.py",
    "marchwarden/text/redaction.py=tests/text/test_redaction.py",
)
SEED = 11
# A mutant that makes a loop endless, or waits for ever, is noticed, too. The slowest file takes 5 CPU seconds.
MOST_CPU_S, MOST_S = 60, 600
COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.FloorDiv: ast.Mult, ast.Div: ast.Mult,
}  # fmt: skip


def variants(node: ast.AST) -> Iterator[ast.AST]:
    """The node with one thing in it changed, in each way that there is."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARISONS:
        yield _with(node, ops=[COMPARISONS[type(node.ops[0])](), *node.ops[1:]])
    if isinstance(node, ast.BoolOp):
        yield _with(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
    if isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in ARITHMETIC:
        yield _with(node, op=ARITHMETIC[type(node.op)]())
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node.operand
    if isinstance(node, ast.If | ast.While | ast.IfExp):
        yield _with(node, test=ast.UnaryOp(ast.Not(), node.test))
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        yield ast.Constant(node.value + 1)
    if isinstance(node, ast.Return) and node.value is not None:
        yield _with(node, value=ast.Constant(None))


def _with(node: ast.AST, **changes: object) -> ast.AST:
    changed = copy.copy(node)
    for name, value in changes.items():
        setattr(changed, name, value)
    return changed


def mutants(source: str) -> list[tuple[int, str]]:
    """Each changed source with the line of its change. Annotations and docstrings are left alone."""
    tree = ast.parse(source)
    annotations = {
        id(below)
        for node in ast.walk(tree)
        for name in ("annotation", "returns")
        if (annotation := getattr(node, name, None)) is not None
        for below in ast.walk(annotation)
    }
    found = []
    for parent in ast.walk(tree):
        for field, value in ast.iter_fields(parent):
            places = enumerate(value) if isinstance(value, list) else [(None, value)]
            for place, node in list(places):
                if not isinstance(node, ast.AST) or id(node) in annotations:
                    continue
                for changed in variants(node):
                    _put(parent, field, place, ast.copy_location(changed, node))
                    found.append((getattr(node, "lineno", 0), ast.unparse(ast.fix_missing_locations(tree))))
                    _put(parent, field, place, node)
    return found


def _put(parent: ast.AST, field: str, place: int | None, node: ast.AST) -> None:
    if place is None:
        setattr(parent, field, node)
    else:
        getattr(parent, field)[place] = node


class Mutated(importlib.abc.MetaPathFinder, importlib.abc.SourceLoader):
    """Imports one module from a changed source."""

    def __init__(self, name: str, path: Path, source: str) -> None:
        self._name, self._path, self._source = name, path, source

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> object:
        return (
            importlib.util.spec_from_file_location(fullname, self._path, loader=self)
            if fullname == self._name
            else None
        )

    def get_data(self, path: str) -> bytes:
        return self._source.encode()

    def get_filename(self, fullname: str) -> str:
        return str(self._path)


def exit_code(files: list[str], changed: Mutated | None = None) -> int:
    """What pytest ends with on these files, in a fork; negative where it took too long."""
    child = os.fork()
    if not child:
        with contextlib.suppress(BaseException):
            nothing = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nothing, 1)
            os.dup2(nothing, 2)
            if changed:
                sys.meta_path.insert(0, changed)
            import pytest

            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(MOST_S)
            resource.setrlimit(resource.RLIMIT_CPU, (MOST_CPU_S, MOST_CPU_S))
            quietly = [
                "-x",
                "-q",
                "-p",
                "no:cacheprovider",
                "-p",
                "no:xdist",
                "-W",
                "ignore::pytest.PytestAssertRewriteWarning",
            ]
            os._exit(int(pytest.main([*quietly, *files])))
        os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def main() -> int:
    given = argparse.ArgumentParser()
    given.add_argument("tried", nargs="*", default=TRIED)
    given.add_argument("--sample", type=int, default=40)
    given.add_argument("--root", type=Path, default=Path(__file__).parents[1])
    given.add_argument("--floor", type=float, default=0.0, help="the least share of each module, or exit code 1")
    options = given.parse_args()
    os.chdir(options.root)
    sys.path.insert(0, str(options.root))
    sys.dont_write_bytecode = True
    for library in ("anyio", "hypothesis", "pydantic", "pydantic_settings", "pytest", "tldextract", "trafilatura"):
        importlib.import_module(library)
    worst = 1.0
    for pair in options.tried:
        module, _, tests = pair.partition("=")
        files, path = tests.split(","), options.root / module
        if code := exit_code(files):
            print(f"{module}: {tests} fails unchanged (exit code {code})")
            return 1
        every = mutants(path.read_text(encoding="utf-8"))
        chosen = random.Random(SEED).sample(every, min(options.sample, len(every)))
        name = module.removesuffix(".py").replace("/", ".")
        missed = [line for line, source in chosen if exit_code(files, Mutated(name, path, source)) == 0]
        share = 1 - len(missed) / len(chosen)
        worst = min(worst, share)
        lines = ", ".join(map(str, sorted(missed)))
        print(
            f"{module}: {len(chosen) - len(missed)} of {len(chosen)} noticed ({share:.0%}); missed: lines {lines}",
            flush=True,
        )
    return int(worst < options.floor)


if __name__ == "__main__":
    sys.exit(main())
