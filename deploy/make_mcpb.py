#!/usr/bin/env python3
"""Make a bundle that MCP hosts such as Claude Desktop install with one click.

    python -m build --wheel && python deploy/make_mcpb.py dist/marchwarden-0.1.0-py3-none-any.whl

writes marchwarden-0.1.0.mcpb beside the wheel. The bundle holds the wheel and a manifest. The host starts it with
uvx, which the user needs to have: it makes an environment for the wheel at the first start, over a network.
"""

from __future__ import annotations

import json
import sys
import zipfile
from pathlib import Path
from typing import Any

# What the host asks for: the variable, its title and its description. Keys are kept by the host, not shown.
KEYS = {
    "ANTHROPIC_API_KEY": (
        "Anthropic API key",
        "Claude reads and writes. Without it, answers consist of sentences of pages.",
    ),
    "TAVILY_API_KEY": (
        "Tavily API key",
        "Searches the whole web. Without it, sources that need no key are searched.",
    ),
    "MARCHWARDEN_CONTACT": ("Contact", "Address or URL that site owners can reach you by, named in requests."),
}
# Of zip's first possible day, so that the same wheel makes the same bundle.
_DATE = (1980, 1, 1, 0, 0, 0)


def manifest(wheel: str) -> dict[str, Any]:
    """Return the bundle's manifest, by the name of the wheel."""
    return {
        "manifest_version": "0.3",
        "name": "marchwarden",
        "display_name": "Marchwarden",
        "version": wheel.split("-")[1],
        "description": "Answers a question from sources, with a quote for every claim that can be checked.",
        "author": {"name": "Marchwarden contributors"},
        "license": "Apache-2.0",
        "keywords": ["research", "citations", "web search"],
        "server": {
            "type": "python",
            "entry_point": wheel,
            "mcp_config": {
                "command": "uvx",
                "args": ["--from", f"${{__dirname}}/{wheel}[models]", "marchwarden", "serve"],
                "env": {name: f"${{user_config.{name.lower()}}}" for name in KEYS},
            },
        },
        "tools": [{"name": "research", "description": "Answers a question with its evidence."}],
        "prompts_generated": True,
        "compatibility": {"platforms": ["darwin", "win32", "linux"], "runtimes": {"python": ">=3.10"}},
        "user_config": {
            # An empty value counts as not set.
            name.lower(): {
                "type": "string",
                "title": title,
                "description": description,
                "required": False,
                "default": "",
                "sensitive": name.endswith("_KEY"),
            }
            for name, (title, description) in KEYS.items()
        },
    }


def make_bundle(wheel: Path) -> Path:
    """Write the bundle beside the wheel, and return its path."""
    told = manifest(wheel.name)
    bundle = wheel.with_name(f"marchwarden-{told['version']}.mcpb")
    with zipfile.ZipFile(bundle, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo("manifest.json", _DATE), json.dumps(told, indent=2) + "\n")
        archive.writestr(zipfile.ZipInfo(wheel.name, _DATE), wheel.read_bytes())
    return bundle


if __name__ == "__main__":
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_file():
        sys.exit(__doc__)
    print(make_bundle(Path(sys.argv[1])))
