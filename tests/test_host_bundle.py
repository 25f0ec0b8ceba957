"""The bundle for MCP hosts: its manifest is valid, and what it starts is there."""

from __future__ import annotations

import json
import runpy
import zipfile
from pathlib import Path

import jsonschema

from marchwarden.environment import variable_of
from marchwarden.settings import Settings
from tests.test_docs import parse

ROOT = Path(__file__).parent.parent
SCHEMA = json.loads((ROOT / "tests/fixtures/mcpb/manifest-v0.3.schema.json").read_text("utf-8"))
SCRIPT = runpy.run_path(str(ROOT / "deploy/make_mcpb.py"))


def test_the_bundle_holds_the_wheel_and_a_valid_manifest(tmp_path: Path) -> None:
    wheel = tmp_path / "marchwarden-1.2.3-py3-none-any.whl"
    wheel.write_bytes(b"a wheel")
    bundle = SCRIPT["make_bundle"](wheel)
    assert bundle == tmp_path / "marchwarden-1.2.3.mcpb"
    with zipfile.ZipFile(bundle) as archive:
        assert archive.namelist() == ["manifest.json", wheel.name]
        manifest = json.loads(archive.read("manifest.json"))
    jsonschema.validate(manifest, SCHEMA)
    assert manifest["version"] == "1.2.3"
    server = manifest["server"]["mcp_config"]
    command = server["args"].index("marchwarden")
    assert server["args"][:command] == ["--from", f"${{__dirname}}/{wheel.name}[models]"]
    parse(server["args"][command + 1 :])
    assert server["env"].keys() <= {variable_of(field) for field in Settings.model_fields}
    asked = {name.lower() for name in server["env"]}
    assert manifest["user_config"].keys() == asked
    assert all(each["sensitive"] for name, each in manifest["user_config"].items() if name.endswith("key"))
    before = bundle.read_bytes()
    assert SCRIPT["make_bundle"](wheel).read_bytes() == before
