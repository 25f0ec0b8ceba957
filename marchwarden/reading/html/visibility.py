"""What of a page its reader does not see: removed before anything of the page is read.

Two things that are hidden at first are text all the same: a page that waits for its own scripts to be shown, and what
a control on the page opens, as the answer below a question. All else that is hidden stays out, since it may be there
for machines only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TypeAlias

from lxml import etree
from lxml.html import HtmlElement

from marchwarden.reading.html.boilerplate import is_named_as_furniture
from marchwarden.reading.html.style_sheets import rules_of
from marchwarden.reading.passages import visible

_UNSEEN = {"script", "style", "noscript", "template", "iframe", "object", "embed", "applet", "canvas", "svg", "math"}
_UNSEEN |= {"audio", "video", "select", "datalist", "textarea", "button", "input", "img", "picture", "map"}
_HIDDEN_STYLE = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|(?:opacity|font-size)\s*:\s*0(?:\.0+)?(?:[a-z%]+)?\s*(?:;|!|$)"
    r"|(?:text-indent|left|top)\s*:\s*-\d{4,}",
    re.IGNORECASE,
)
_SIMPLE_SELECTOR = re.compile(r"[a-z0-9]*([.#])([\w-]+)", re.IGNORECASE)

_Place: TypeAlias = tuple[etree._Element, etree._Element | None]
"""An element, and the last one in it that stands before."""

_LONGEST_NOTE_MARK = 6
_MOST_IN_A_MARK = 8
"""Elements in a footnote's mark, itself included."""

_HARDLY_ANYTHING = 200
_A_TEXT = 500
_MAIN_SHARE = 0.6
_AROUND = frozenset({"a", "nav", "header", "footer"})


def drop_hidden(tree: HtmlElement) -> None:
    """Remove what is not shown as text, note marks, and invisible characters from what is. Changes `tree`."""
    style = _hidden_by_style(tree)
    _show_opened(tree, style)
    hidden = list(_hidden_in(tree, style))
    waiting = _waiting_for_scripts(tree, hidden)
    if waiting is not None:
        _show(waiting, style)
        hidden = list(_hidden_in(tree, style, shown=waiting))
    _take_out(hidden)
    for element in tree.iter(etree.Element):
        if element.text:
            element.text = visible(element.text)
        if element.tail:
            element.tail = visible(element.tail)


def _take_out(elements: list[HtmlElement]) -> None:
    """Remove elements, in the page's order and none within another, but not the texts behind them. Texts that come to
    stand in one place are joined at once: one by one, a page of a hundred thousand small pictures takes minutes."""
    place: _Place | None = None
    texts: list[str] = []
    for element in elements:
        here = element.getparent(), element.getprevious()
        if here != place:
            _put(texts, place)
            place, texts = here, []
        texts.append(element.tail or "")
        element.tail = None
        here[0].remove(element)
    _put(texts, place)


def _put(texts: list[str], place: _Place | None) -> None:
    if place is None:
        return
    parent, before = place
    if before is None:
        parent.text = visible("".join([parent.text or "", *texts]))
    else:
        before.tail = visible("".join([before.tail or "", *texts]))


@dataclass(frozen=True)
class _Style:
    """Classes and ids that the page's own style sheets hide, by rules for one class or id alone."""

    classes: frozenset[str]
    ids: frozenset[str]


def _hidden_by_style(tree: HtmlElement) -> _Style:
    classes: set[str] = set()
    ids: set[str] = set()
    for sheet in tree.iter("style"):
        for selectors, declarations in rules_of(sheet.text or ""):
            if _HIDDEN_STYLE.search(declarations):
                for selector in selectors.split(","):
                    if simple := _SIMPLE_SELECTOR.fullmatch(selector.strip()):
                        (classes if simple[1] == "." else ids).add(simple[2])
    return _Style(frozenset(classes), frozenset(ids))


def _hidden_in(tree: HtmlElement, style: _Style, shown: etree._Element | None = None) -> Iterator[HtmlElement]:
    """The outermost hidden elements; `shown` is taken for visible, whatever it says of itself."""
    walk = etree.iterwalk(tree, events=("start",))
    for _, element in walk:
        if element is shown or element.tag in ("html", "body") or not isinstance(element.tag, str):
            continue
        if _is_unseen(element) or _is_hidden(element, style) or _is_note_mark(element):
            walk.skip_subtree()
            yield element


def _is_unseen(element: etree._Element) -> bool:
    return element.tag in _UNSEEN and element.get("type") != "application/ld+json"  # trafilatura knows forums by it


def _is_hidden(element: etree._Element, style: _Style) -> bool:
    attributes = element.attrib
    if not attributes:
        return str(element.tag) == "dialog"
    return bool(
        "hidden" in attributes
        or attributes.get("aria-hidden", "").lower() == "true"
        or (element.tag == "dialog" and "open" not in attributes)
        or _HIDDEN_STYLE.search(attributes.get("style", ""))
        or attributes.get("id") in style.ids
        or (style.classes and not style.classes.isdisjoint(attributes.get("class", "").split()))
    )


def _is_note_mark(element: etree._Element) -> bool:
    """Whether it is a raised link to a footnote, which would stick to the word or number before it ("in 1977.1")."""
    if element.tag != "sup" or len(list(islice(element.iter(), _MOST_IN_A_MARK + 1))) > _MOST_IN_A_MARK:
        return False
    links = element.findall(".//a")
    noted = len(links) == 1 and (links[0].get("href") or "").startswith("#")
    return noted and len("".join(element.itertext()).strip()) <= _LONGEST_NOTE_MARK


# A page that its own scripts show


def _waiting_for_scripts(tree: HtmlElement, hidden: list[HtmlElement]) -> HtmlElement | None:
    """The hidden element, or copy for readers without scripts, that holds the page's text where hardly anything of
    its main region is shown. On a page that shows a text, there is none: what it hides is not for its readers."""
    region = tree.find(".//main")
    if region is None:
        region = tree.find("body")
    if region is None or not hidden:
        return None
    around = {region, *region.iterancestors()}
    is_wrapped = not around.isdisjoint(hidden)
    if not is_wrapped and _shown_length(region, set(hidden)) >= _HARDLY_ANYTHING:
        return None
    texts = [element for element in hidden if element.tag == "noscript" or not _is_unseen(element)]
    lengths = {element: _length(element) for element in texts}
    longest = max(lengths, key=lambda element: lengths[element], default=None)
    if longest is None or lengths[longest] < max(_A_TEXT, _MAIN_SHARE * sum(lengths.values())):
        return None
    return longest if longest in around or region in longest.iterancestors() or region.tag == "body" else None


def _shown_length(body: HtmlElement, hidden: set[etree._Element]) -> int:
    """Characters of text that is neither hidden nor a link, menus left aside."""
    length = 0
    walk = etree.iterwalk(body, events=("start", "end"))
    for event, element in walk:
        if event == "end":
            length += 0 if element is body else len((element.tail or "").strip())
        elif element in hidden or element.tag in _AROUND:
            walk.skip_subtree()
        else:
            length += len((element.text or "").strip())
    return length


def _show(element: etree._Element, style: _Style) -> None:
    element.tag = "div"
    for attribute in ("hidden", "aria-hidden", "style"):
        element.attrib.pop(attribute, None)
    if element.get("id") in style.ids:
        del element.attrib["id"]
    if not style.classes.isdisjoint((element.get("class") or "").split()):
        del element.attrib["class"]


def _length(element: etree._Element) -> int:
    return sum(len(" ".join(text.split())) for text in element.itertext())


# What a control opens

_HAS_CONTROLS = etree.XPath(
    "boolean(//@aria-controls | //@data-target | //@data-bs-target | //@aria-expanded | //@role)"
)
_OPENS = frozenset({"collapse", "tab", "pill", "accordion"})
_MENUS = frozenset({"nav", "header", "footer", "dialog"})
_NO_PANELS = _MENUS | {"ul", "form", "aside"}
_PANEL_ROLES = frozenset({"", "region", "tabpanel"})
_LONGEST_CONTROL = 300


def _show_opened(tree: HtmlElement, style: _Style) -> None:
    """Show the panels that a control before them opens in their place, and the words of buttons that do."""
    if not _HAS_CONTROLS(tree):
        return
    for control, panel in list(_opened_in(tree, style)):
        if control.tag == "button":
            control.tag = "div"
        if _is_hidden(panel, style):
            _show(panel, style)


def _opened_in(tree: HtmlElement, style: _Style) -> Iterator[tuple[etree._Element, etree._Element]]:
    controls: dict[str, etree._Element] = {}
    walk = etree.iterwalk(tree, events=("start",))
    for _, element in walk:
        if not isinstance(element.tag, str) or element.tag in ("html", "body"):
            continue
        control = controls.get(element.get("id", ""))
        if control is not None and _opens(control, element):
            yield control, element
        elif element.tag in _MENUS or _is_hidden(element, style):
            walk.skip_subtree()
        elif targets := _targets(element):
            controls.update(dict.fromkeys(targets, element))
        elif _is_unseen(element):
            walk.skip_subtree()


def _targets(element: etree._Element) -> list[str]:
    """The ids of what it controls, if it is a control that opens something."""
    toggles = (element.get("data-toggle") or element.get("data-bs-toggle") or "").lower()
    opens = "aria-expanded" in element.attrib or element.get("role") == "tab" or toggles in _OPENS
    names = ("aria-controls", "data-target", "data-bs-target", "href") if opens else ("aria-controls",)
    if toggles and toggles not in _OPENS:
        return []
    return [value.removeprefix("#") for name in names if (value := (element.get(name) or "").strip())]


def _opens(control: etree._Element, panel: etree._Element) -> bool:
    """Whether the panel is text that belongs to the page, in its place: neither a menu nor a window over it."""
    if panel.tag in _NO_PANELS or panel.get("role", "") not in _PANEL_ROLES or is_named_as_furniture(panel):
        return False
    labelled = panel.get("aria-labelledby") == control.get("id", "")
    if not (labelled or "aria-expanded" in control.attrib or control.get("role") == "tab" or _toggles(control)):
        return False
    linked = sum(_length(link) for link in panel.iter("a"))
    return 0 < _length(control) <= _LONGEST_CONTROL and linked * 2 < _length(panel)


def _toggles(control: etree._Element) -> bool:
    return "data-toggle" in control.attrib or "data-bs-toggle" in control.attrib
