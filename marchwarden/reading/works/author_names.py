"""Names of the authors that a page or a file declares, from fields that people and programs fill in freely.

Own code beside nameparser and probablepeople, which take a field apart that holds one name; neither tells how many
names it holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from marchwarden.text.invisible import visible_line
from marchwarden.text.works import NAME_SUFFIX, is_group, parts_of_name

# Characters of a field that are read: some 100 names. A guess.
_MAX_FIELD_CHARS = 2000
_BY = re.compile(r"^(?:\w+\s+){0,2}by\b:?\s+|^authors?\s*:\s*", re.IGNORECASE)
_BETWEEN = re.compile(r"\s*[;|•·]\s*|\s+/\s+")
_AND = re.compile(r",?\s+(?:and|&|und|et|y|with)\s+", re.IGNORECASE)
# A name that nobody chose: of an account, a template, or the program that made the file.
_ACCOUNT = re.compile(
    r"(?:[^\W_]+[ _.-])?\S*admin(?:istrator)?|root|(?:site|forum)?\s*(?:owner|webmaster)|system|test|default"
    r"|unknown(?: author)?|anonym(?:ous)?|guest(?: author)?|author|team|staff"
    r"|null|none|nan|n/?a|undefined"
    r"|(?:(?:microsoft|ms)(?: office)?|windows|office|preinstalled|ordinary|valued|hp|dell|lenovo|acer|asus)?\s*"
    r"(?:user|benutzer|utilisateur|usuario|customer)"
    r"|python-docx|openpyxl|apache poi|humans\.txt|vorname nachname|your name|first ?name last ?name",
    re.IGNORECASE,
)
_HONORIFICS = re.compile(r"^(?:(?:dr|prof|professor|mr|mrs|ms|mx)\b\.?\s*(?:med\.\s*)?)+", re.IGNORECASE)
_DEGREE = re.compile(
    r"ba|bsc?|m[asd]|msc|m?eng|med|mfa|mba|mph|do|dds|dvm|dnp|d?pt|edd|psyd|pharmd|phd|dphil|jd|ll[bm]|mbbs|mbchb"
    r"|f?np|rn|pa(?:-c)?|rdn?|ldn?|cscs|cdc?es|lcsw|lmft|lpc|cpa|cfa|cfp|pe|esq|mrcp|frc[ps]|frs|fac[pcs]|faap|[omc]be",
    re.IGNORECASE,
)
_ROLE = re.compile(
    r"\b(?:writer|editor|reporter|correspondent|columnist|journalist|director|contributor|dietitian|manager|officer"
    r"|founder|president|analyst|producer|specialist|professor)\b",
    re.IGNORECASE,
)
_INITIALS = re.compile(r"(?:[A-Z]\.?[ -]?){1,3}")


def author_names(fields: Iterable[str], *, inverted: bool = False) -> tuple[str, ...]:
    """Return the names that the fields hold, each once, without addresses, degrees and accounts such as "admin".

    Only one field alone can hold several names apart from those that ";" divides: "Doe, Jane" of a list is one name.
    `inverted` is True for fields that are written that way by convention.
    """
    texts = [text for field in fields if _has_letters(text := _without_addresses(field[:_MAX_FIELD_CHARS]))]
    names: list[str] = []
    for text in texts:
        first, *others = filter(_has_letters, _BETWEEN.split(text))
        # What stands behind a name can be its bearer's office, or a date.
        pieces = [first, *(other for other in others if not re.search(r"\d", other) and not _ROLE.search(other))]
        is_list = not inverted and len(texts) == 1
        for piece in pieces:
            for each in _divided(piece) if is_list else (piece,):
                names += _by_commas(each, is_list=is_list and len(pieces) == 1)
    return tuple(dict.fromkeys(name for each in names if (name := _plain_name(each))))


def named_in(value: object) -> list[str]:
    """Return the fields in a value of JSON: a text, an object with a name, or a list of such."""
    listed = value if isinstance(value, list) else [value]
    named = (each.get("name") if isinstance(each, dict) else each for each in listed)
    return [name for name in named if isinstance(name, str)]


def _has_letters(text: str) -> bool:
    return any(map(str.isalpha, text))


def _without_addresses(field: str) -> str:
    words = (
        re.sub(r".*?([,;]?)$", r"\1", word) if "@" in word[1:] or "://" in word else word
        for word in visible_line(field).split()
    )
    text = " ".join(filter(None, words)).strip(" ,;|")
    text = text[1:-1] if text[:1] in "([{" and text[-1:] in ")]}" else text
    return _BY.sub("", text)


def _divided(text: str) -> list[str]:
    """Return the names that "and" joins; a text is left whole where one side is no name of two words or more."""
    sides = _AND.split(text)
    are_names = all(len(side.split()) > 1 and not is_group(side) for side in sides)
    return sides if are_names else [text]


def _by_commas(text: str, *, is_list: bool) -> Iterator[str]:
    """Yield the names between commas where these do not stand between family and given name."""
    first, *others = filter(_has_letters, map(str.strip, text.split(",")))
    parts = [first]
    is_whole = len(first.split()) > 1 and not first[0].islower()  # "Jane Doe", not "Doe" and not "van der Berg"
    for part in others:
        if NAME_SUFFIX.fullmatch(part):
            parts[-1] += f" {part}"
        elif _ROLE.search(part):
            break
        elif not (_is_degree(part) and (is_whole or len(parts) > 1)):
            parts.append(part)
    if len(parts) > 3 and len(parts) % 2 == 0 and all(map(_INITIALS.fullmatch, parts[1::2])):
        yield from (f"{family}, {initials}" for family, initials in zip(parts[::2], parts[1::2], strict=True))
    elif is_list and is_whole and all(len(part.split()) > 1 or _is_publisher(first, part) for part in parts[1:]):
        yield from parts
    else:
        yield ", ".join(parts)


def _is_degree(part: str) -> bool:
    return all(map(_DEGREE.fullmatch, part.replace(".", "").replace("/", " ").split()))


def _is_publisher(name: str, part: str) -> bool:
    """Return whether one word behind a name is where its bearer works: `CNN`, `Cleveland.com`."""
    has_initial = any(map(_INITIALS.fullmatch, name.split()[1:-1]))
    return has_initial or re.fullmatch(r"[A-Z]{3,}|[\w-]+\.[a-z]{2,}", part) is not None


def _plain_name(text: str) -> str | None:
    name = text.strip(" ,;:|/&@\"'")
    if _ACCOUNT.fullmatch(name) or not _has_letters(name):
        return None
    bare = _HONORIFICS.sub("", name)
    return bare if bare != name and len(bare.split()) > 1 and parts_of_name(bare) else name
