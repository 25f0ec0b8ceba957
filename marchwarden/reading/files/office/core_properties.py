"""Title, author and days that an Office file states (docProps/core.xml, ECMA-376 part 2)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from marchwarden.reading.files.archive import DC, Archive
from marchwarden.reading.files.content import FileContent
from marchwarden.reading.html.dates import as_date
from marchwarden.reading.text_blocks import Block
from marchwarden.text.invisible import visible_line

# Days on which the templates of python-pptx and python-docx were made: each file that these write bears them.
_TEMPLATE_DAYS = frozenset({date(2013, 1, 27), date(2013, 12, 23)})
_TERMS = "{http://purl.org/dc/terms/}"


@dataclass(frozen=True)
class CoreProperties:
    title: str | None = None
    authors: tuple[str, ...] = ()
    created: date | None = None
    modified: date | None = None

    def of(self, blocks: tuple[Block, ...]) -> FileContent:
        """Return the content of a file with these properties."""
        return FileContent(
            blocks, title=self.title, authors=self.authors, created=self.created, modified=self.modified
        )


def core_properties(archive: Archive) -> CoreProperties:
    """Return what the file states of itself. Raises Unpackable."""
    if "docProps/core.xml" not in archive:
        return CoreProperties()
    core = archive.xml("docProps/core.xml")
    title, author, created, modified = (
        visible_line(core.findtext(name) or "")
        for name in (f"{DC}title", f"{DC}creator", f"{_TERMS}created", f"{_TERMS}modified")
    )
    days = (None if day in _TEMPLATE_DAYS else day for day in (as_date(created), as_date(modified)))
    return CoreProperties(title or None, (author,), *days)
