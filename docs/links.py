"""Hooks of the documentation site (mkdocs.yml).

Pages that stand elsewhere in the repository, such as CONTRIBUTING.md, become pages of the site under the same path.
Relative links then work in both places; a link to a file that is no page of the site becomes plain text.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parent.parent
ELSEWHERE = (
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "data/web/README.md",
    "evals/README.md",
    "programs/README.md",
    *sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "evals/reports").glob("*.md")),
)
_LINK = re.compile(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\((?!https?:|mailto:|#)([^)\s]+)\)")


def on_files(files: Files, config: Any) -> Files:
    for path in ELSEWHERE:
        files.append(File.generated(config, path, abs_src_path=str(ROOT / path)))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Rewrite links from where a page stands in the repository to where it stands in the site."""
    site_path = page.file.src_uri
    place = site_path if site_path in ELSEWHERE else f"docs/{site_path}"

    def rewrite(link: re.Match[str]) -> str:
        path, hash_sign, anchor = link[2].partition("#")
        target = posixpath.normpath(posixpath.join(posixpath.dirname(place), path)).removeprefix("docs/")
        if target == "README.md":
            target = "index.md"
        if files.get_file_from_path(target) is None:
            return link[1]
        return f"[{link[1]}]({posixpath.relpath(target, posixpath.dirname(site_path) or '.')}{hash_sign}{anchor})"

    return _LINK.sub(rewrite, markdown)
