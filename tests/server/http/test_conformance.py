"""The official conformance suite and the Inspector's command line against a real server: `make nightly` runs them.

They are programs of Node, which npm fetches. Scenarios that need tools of the suite's own example server are left out.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.node import install_packages
from tests.profiles import IS_NIGHTLY
from tests.server.test_transports import SERVE, environment
from tests.server.test_worker import ROOT, STANDIN

pytestmark = pytest.mark.skipif(not IS_NIGHTLY, reason="fetches 223 packages with npm: `make nightly` runs it")

PACKAGES = ["@modelcontextprotocol/conformance@0.2.0-alpha.12", "@modelcontextprotocol/inspector@2.12.0"]
NEWEST = "2026-07-28"
NODE = (22, 19)
"""Version of Node that both ask for, at least."""


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install_packages(tmp_path_factory.mktemp("node"), *PACKAGES, least=NODE) / "@modelcontextprotocol"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    variables = environment(tmp_path_factory.mktemp("server"), MARCHWARDEN_PROGRAM="none")
    arguments = [sys.executable, "-c", SERVE, "http", STANDIN]
    with subprocess.Popen(arguments, stderr=subprocess.PIPE, env=variables, cwd=ROOT) as server:
        try:
            assert server.stderr
            yield server.stderr.readline().decode().strip()
        finally:
            server.terminate()


_OUTPUT: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, "timeout": 300}


@pytest.mark.parametrize(
    ("scenario", "version"),
    [
        ("server-initialize", None),
        ("server-session-lifecycle", None),
        ("ping", None),
        ("tools-list", None),
        ("tools-list", NEWEST),
        ("resources-list", None),
        ("resources-list", NEWEST),
        ("prompts-list", None),
        ("prompts-list", NEWEST),
        ("server-sse-multiple-streams", None),
        ("server-sse-multiple-streams", NEWEST),
        ("server-sse-polling", None),
        ("dns-rebinding-protection", None),
        ("dns-rebinding-protection", NEWEST),
        ("caching", NEWEST),
        ("http-header-validation", NEWEST),
        ("sep-2164-resource-not-found", NEWEST),
        ("input-required-result-unsupported-methods", NEWEST),
    ],
)
def test_a_scenario_of_the_conformance_suite_passes(
    modules: Path, url: str, scenario: str, version: str | None
) -> None:
    suite = modules / "conformance" / "dist" / "index.js"
    asked = ["--scenario", scenario, *(["--spec-version", version] if version else [])]
    ran = subprocess.run(["node", str(suite), "server", "--url", url, *asked], **_OUTPUT)
    assert ran.returncode == 0, ran.stdout
    assert re.search(r"Passed: [1-9]\d*/\d+, 0 failed", ran.stdout), ran.stdout


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["tools/list", "--strict"], "research"),
        (
            ["prompts/get", "--prompt-name", "fact-check", "--prompt-args", "claim=Tomatoes grow in Utah."],
            "Tomatoes grow",
        ),
        (["tools/call", "--tool-name", "research", "--tool-arg", "question=answer me"], "says: answer me"),
        (["resources/list"], "trace://"),
    ],
)
def test_the_inspector_gets_what_it_asks_for(modules: Path, url: str, arguments: list[str], named: str) -> None:
    inspector = modules / "inspector" / "clients" / "launcher" / "build" / "index.js"
    ran = subprocess.run(
        ["node", str(inspector), "--cli", url, "--method", *arguments], **{**_OUTPUT, "stderr": None}
    )
    assert ran.returncode == 0
    assert named in json.dumps(json.loads(ran.stdout))
