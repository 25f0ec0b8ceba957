"""Without the packages of an extra everything else works, and what needs them names the extra."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

import marchwarden
from marchwarden.errors import EXTRAS, ConfigurationError, require_package
from marchwarden.settings import load_settings
from tests.cli.conftest import Run, run  # noqa: F401
from tests.test_layers import PACKAGE, modules

PROJECT = (Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8")


def listed(name: str) -> set[str]:
    body = re.search(rf"^{name} = \[\n(.*?)^\]", PROJECT, re.MULTILINE | re.DOTALL)
    assert body
    return set(re.findall(r'^\s*"([\w.-]+)', body[1], re.MULTILINE))


@pytest.mark.parametrize("package", EXTRAS)
def test_an_extra_that_is_named_brings_the_package(package: str) -> None:
    name = {"lance": "pylance"}.get(package, package)  # as it is imported, and as it is installed
    assert name in listed(EXTRAS[package])
    assert name not in listed("dependencies")


@pytest.fixture
def _without_dspy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "dspy", None)


@pytest.mark.usefixtures("_without_dspy")
def test_a_model_needs_an_extra_that_is_named_before_anything_is_run(run: Run) -> None:  # noqa: F811
    settings = load_settings(model="openai/m", source="snapshot")
    with pytest.raises(ConfigurationError, match="The model openai/m needs dspy") as caught:
        marchwarden.research_sync("Who built it?", settings=settings)
    assert caught.value.hint == "In your clone of Marchwarden: pip install -e '.[models]'"
    with pytest.raises(ConfigurationError, match="Researcher needs dspy"):
        marchwarden.Researcher  # noqa: B018
    for command in (("ask", "Who built it?"), ("investigate", "Who built it?")):
        ran = run(*command, "--model", "openai/m", "--source", "snapshot")
        assert (ran.code, ".[models]" in ran.err) == (1, True)
    assert not list(settings.traces.glob("*.jsonl"))


def test_a_package_that_is_there_is_no_error() -> None:
    require_package("dspy", "This")


def test_only_what_asks_a_model_imports_the_packages_of_models_at_its_top() -> None:
    importers = {
        path.relative_to(PACKAGE).parts[0]
        for path in modules()
        if re.search(r"^(import|from) (dspy|anthropic|litellm)\b", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert importers == {"lm", "agent", "optimization"}
