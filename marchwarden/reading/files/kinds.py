"""The kinds of files: media type, endings, and the reader. A new kind is one line here.

HTML, PDF, Markdown, JSON and plain text are read by reading/page.py.
"""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TypeAlias

from marchwarden.observations import Failure
from marchwarden.reading.files.content import FileContent

# A function that gets the bytes and the Content-Type. The type may name a charset.
FileReader: TypeAlias = Callable[[bytes, str | None], FileContent | Failure]

NOTEBOOK = "application/x-ipynb+json"
CSV, TSV = "text/csv", "text/tab-separated-values"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
EPUB = "application/epub+zip"
FEED = "application/rss+xml"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
PPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
ODT = "application/vnd.oasis.opendocument.text"
ODS = "application/vnd.oasis.opendocument.spreadsheet"
ODP = "application/vnd.oasis.opendocument.presentation"
TABLES = frozenset({CSV, TSV, XLSX, ODS})
"""Kinds that hold rows of tables alone."""


@dataclass(frozen=True)
class FileKind:
    media_type: str
    endings: tuple[str, ...]
    """Endings of names, in lower case, with the dot."""
    reader: str
    """A FileReader as `module:function`."""


_FILES = "marchwarden.reading.files"
_LANGUAGES = {
    "c": ".c .h",
    "c++": ".cc .cpp .cxx .hh .hpp .hxx",
    "csharp": ".cs",
    "go": ".go",
    "haskell": ".hs",
    "java": ".java",
    "javascript": ".js .cjs .mjs .jsx",
    "julia": ".jl",
    "kotlin": ".kt .kts",
    "lua": ".lua",
    "perl": ".pl .pm",
    "php": ".php",
    "python": ".py .pyi",
    "r": ".r",
    "ruby": ".rb",
    "rust": ".rs",
    "scala": ".scala",
    "shellscript": ".sh .bash .zsh",
    "sql": ".sql",
    "swift": ".swift",
    "typescript": ".ts .tsx .mts .cts",
}
"""Endings of the names of source files, by language."""
_KINDS = (
    FileKind(NOTEBOOK, (".ipynb",), f"{_FILES}.markup.notebook:read_notebook"),
    FileKind(CSV, (".csv",), f"{_FILES}.tabular.csv_rows:read_csv"),
    FileKind(TSV, (".tsv", ".tab"), f"{_FILES}.tabular.csv_rows:read_csv"),
    FileKind("text/x-rst", (".rst", ".rest"), f"{_FILES}.markup.rst:read_rst"),
    FileKind("text/org", (".org",), f"{_FILES}.markup.org:read_org"),
    FileKind("text/x-tex", (".tex", ".ltx"), f"{_FILES}.markup.latex:read_latex"),
    FileKind(EPUB, (".epub",), f"{_FILES}.epub:read_epub"),
    FileKind(FEED, (), f"{_FILES}.feed:read_feed"),
    FileKind(DOCX, (".docx",), f"{_FILES}.office.docx:read_docx"),
    FileKind(XLSX, (".xlsx", ".xlsm"), f"{_FILES}.tabular.xlsx:read_xlsx"),
    FileKind(PPTX, (".pptx", ".pptm"), f"{_FILES}.office.pptx:read_pptx"),
    FileKind(ODT, (".odt",), f"{_FILES}.office.odt:read_odt"),
    FileKind(ODS, (".ods",), f"{_FILES}.office.ods:read_ods"),
    FileKind(ODP, (".odp",), f"{_FILES}.office.odp:read_odp"),
    *(
        FileKind(f"text/x-{language}", tuple(endings.split()), f"{_FILES}.markup.source_code:read_source")
        for language, endings in _LANGUAGES.items()
    ),
)

_BY_TYPE = {kind.media_type: kind for kind in _KINDS}
_TEXTS = frozenset({NOTEBOOK, *(name for name in _BY_TYPE if name.startswith("text/"))})
ENDINGS = {ending: kind.media_type for kind in _KINDS for ending in kind.endings}
"""Media types by the ending of a name."""


def file_reader(media_type: str) -> FileReader | None:
    """Return the reader of a kind; None where the kind isn't one of these."""
    kind = _BY_TYPE.get(media_type)
    if kind is None:
        return None
    reader: FileReader = pkgutil.resolve_name(kind.reader)
    return reader


# `.org` ends names of hosts, too.
_HOST, _QUERY = re.compile(r"\A[a-z]+://[^/?#]*"), re.compile(r"[?#]")


def text_kind(declared: str, url: str) -> str | None:
    """Return the media type of text by the type that is declared, or by the ending of the address's path."""
    if declared in _TEXTS:
        return declared
    if declared in ("text/plain", "", "application/octet-stream"):
        path = _QUERY.split(_HOST.sub("", url), maxsplit=1)[0]
        kind = ENDINGS.get(PurePosixPath(path).suffix.lower())
        return kind if kind in _TEXTS else None
    return None
