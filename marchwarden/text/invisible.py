"""Characters that readers don't see, and texts without them."""

import re

# Characters that readers don't see, and that could hide words from them or smuggle words past them.
_INVISIBLE_CHARS = (
    "\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f"  # controls, but for blanks and line ends
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\uffa0"  # soft hyphen, fillers
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff"  # zero width, direction
    "\ufe00-\ufe0f\U000e0100-\U000e01ef"  # variation selectors
    "\U000e0000-\U000e007f\U0001d173-\U0001d17a\U0001bca0-\U0001bca3"  # tags
    "\ufff0-\ufffb\ufffe\uffff\ud800-\udfff"
)
INVISIBLE = re.compile(f"[{_INVISIBLE_CHARS}]")
_LINE_ENDS = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_CHANGED = re.compile(f"[{_INVISIBLE_CHARS}\r\x0b\x0c\x85\u2028\u2029]")
# Bytes of ASCII text that `visible` keeps. Without them little of most texts is left to search.
_KEPT = bytes([*b"\t\n", *range(32, 127)])
# Searches of few ranges take a fifth of the time; most texts have none of these.
_MAY_CHANGE = re.compile("[\x00-\x9f\u00ad\u034f-\u200f\u2028-\u202e\u2060-\U0010ffff]")


def has_invisible(text: str) -> bool:
    """True where `visible` changes the text."""
    if text.isascii() and text.isprintable():
        return False
    rest = text.encode("utf-8", "surrogatepass").translate(None, _KEPT).decode("utf-8", "surrogatepass")
    return _MAY_CHANGE.search(rest) is not None and _CHANGED.search(rest) is not None


def visible(text: str) -> str:
    """Return `text` without invisible characters, and with `\\n` for every line end; all else stays as it is."""
    if not has_invisible(text):
        return text
    return _LINE_ENDS.sub("\n", INVISIBLE.sub("", text))


def visible_line(text: str) -> str:
    """Return `text` without invisible characters, as one line with single blanks."""
    return " ".join(visible(text).split())
