"""How often the characters of a page are read right, on a public collection of text and HTML in 51 encodings.

    python evals/reading/charsets.py --path data/encodings-chardet/encodings.tar.xz [--json]

A folder of the archive is named after its encoding (and language). Each file is read as a page that came without a
Content-Type. `as it is`: with what the file declares itself; `undeclared`: the same files without those declarations,
so that all is detected. Right means equal to what Python's codec of that encoding makes of the bytes, or to what the
larger set does that browsers read instead (the WHATWG Encoding Standard: windows-1252 for ISO-8859-1, GB18030 for
GB2312 …). A byte order mark is no character. A file whose encoding Python does not know (EUC-TW) counts as wrong.

The collection is the test data of chardet, which detects for us and was made with these files in sight: the figures
are of the whole way that a page goes, not of how well chardet does elsewhere. For that there are paragraphs of our
own: tests/reading/paragraphs.py.
"""

from __future__ import annotations

import argparse
import json
import re
import tarfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from marchwarden.reading.decoding import decode

_LANGUAGE = re.compile(
    "-(?:arabic|bulgarian|croatian|czech|greek|hebrew|hungarian|polish|romanian|russian|slovak|slovene|turkish)$"
)
_READ_INSTEAD = {
    "ascii": "cp1252",
    "big5": "big5hkscs",
    "euc-kr": "cp949",
    "gb2312": "gb18030",
    "iso-8859-1": "cp1252",
    "iso-8859-9": "cp1254",
    "shift_jis": "cp932",
    "tis-620": "cp874",
}
_DECLARATION = re.compile(rb"(charset|encoding)(?=\s*=)", re.IGNORECASE)


@dataclass(frozen=True)
class EncodedFile:
    name: str
    encoding: str
    """As the folder says, without the language."""
    body: bytes

    @property
    def undeclared(self) -> EncodedFile:
        return EncodedFile(self.name, self.encoding, _DECLARATION.sub(lambda found: found[0][::-1], self.body))

    def is_read_right(self) -> bool:
        return decode(self.body, None).lstrip("\ufeff") in self._right_texts()

    def _right_texts(self) -> set[str]:
        names = (self.encoding, _READ_INSTEAD.get(self.encoding.lower(), self.encoding))
        try:
            return {self.body.decode(name, "replace").lstrip("\ufeff") for name in names}
        except LookupError:
            return set()


def files_of(archive: Path) -> Iterator[EncodedFile]:
    with tarfile.open(archive) as packed:
        for member in packed:
            content = packed.extractfile(member) if member.isfile() else None
            if content is not None:
                folder = Path(member.name).parent.name
                yield EncodedFile(member.name, _LANGUAGE.sub("", folder), content.read())


@dataclass
class Score:
    files: Counter[str]
    """By encoding, as the other two."""
    as_it_is: Counter[str]
    undeclared: Counter[str]

    @property
    def rows(self) -> list[dict[str, str | int]]:
        return [
            {"encoding": name, "files": count, "as it is": self.as_it_is[name], "undeclared": self.undeclared[name]}
            for name, count in sorted(self.files.items())
        ] + [
            {
                "encoding": "all",
                "files": self.files.total(),
                "as it is": self.as_it_is.total(),
                "undeclared": self.undeclared.total(),
            }
        ]


def measured(archive: Path) -> Score:
    score = Score(Counter(), Counter(), Counter())
    for file in files_of(archive):
        score.files[file.encoding] += 1
        score.as_it_is[file.encoding] += file.is_read_right()
        score.undeclared[file.encoding] += file.undeclared.is_read_right()
    return score


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--path", type=Path, default=Path("data/encodings-chardet/encodings.tar.xz"))
    parser.add_argument("--json", action="store_true", help="a line of JSON for each encoding")
    given = parser.parse_args()
    if not given.path.exists():
        parser.error(f"{given.path} is not there; evals/reports/reading.md says what the collections are")
    for row in measured(given.path).rows:
        if given.json:
            print(json.dumps(row))
        else:
            print(f"{row['encoding']:<14} {row['files']:>4} files  {row['as it is']:>4} right as it is", end="")
            print(f"  {row['undeclared']:>4} undeclared")


if __name__ == "__main__":
    main()
