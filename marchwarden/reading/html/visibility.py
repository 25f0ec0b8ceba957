"""Removal of hidden text, before anything of a page is read.

Two kinds of hidden text are kept: that of a page which its own scripts show, and panels that a control on the page
opens, such as the answer below a question. All other hidden text may be there for machines only, so it is dropped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TypeAlias

from lxml import etree
from lxml.html import HtmlElement

from marchwarden.reading.html.boilerplate import is_named_as_boilerplate, text_length, text_of
from marchwarden.reading.html.style_sheets import colors_of, hides, rules_of
from marchwarden.text.invisible import has_invisible, visible

_UNSEEN = {"script", "style", "noscript", "template", "iframe", "object", "embed", "applet", "canvas", "svg"}
_UNSEEN |= {"audio", "video", "select", "datalist", "textarea", "button", "input", "img", "picture", "map"}
# Readings beside the words that they are of, and text that is struck out: neither is said by the page.
_UNSEEN |= {"rt", "rp", "rtc", "s", "del", "strike"}
_ANIMATIONS = ("data-w-id", "data-aos", "data-sal", "data-framer-appear-id", "data-animate")
_SIMPLE_SELECTOR = re.compile(r"[a-z0-9]*([.#])([\w-]+)", re.IGNORECASE)

# A place for text: an element, and the last child of it that comes before (None: at its start).
_Place: TypeAlias = tuple[etree._Element, etree._Element | None]

# A main region that shows fewer characters than this is taken for empty. A guess: a headline and a line about
# cookies.
_MIN_SHOWN_CHARS = 200
# A hidden element is the page's text only if it has as many characters, and as large a share of all hidden text.
# Guesses.
_MIN_HIDDEN_CHARS = 500
_MIN_HIDDEN_SHARE = 0.6
_AROUND = frozenset({"a", "nav", "header", "footer"})


def drop_hidden(tree: HtmlElement) -> None:
    """Remove hidden elements, what is struck out, and invisible characters. Changes `tree`."""
    classes: set[str] = set()
    ids: set[str] = set()
    for sheet in tree.iter("style"):
        for selectors, declarations in rules_of(sheet.text or ""):
            for selector in selectors.split(","):
                if (simple := _SIMPLE_SELECTOR.fullmatch(selector.strip())) and hides(declarations):
                    (classes if simple[1] == "." else ids).add(simple[2])
    is_plain = tree.find(".//style") is None and tree.find(".//link[@rel='stylesheet']") is None
    style = _Style(frozenset(classes), frozenset(ids), is_plain)
    _place_streamed(tree)
    _show_copies(tree)
    _show_opened(tree, style)
    hidden = list(_hidden_in(tree, style))
    waiting = _waiting_for_scripts(tree, hidden)
    if waiting is not None:
        _show(waiting, style)
        hidden = list(_hidden_in(tree, style, shown=waiting))
    remove_elements(hidden)
    if has_invisible(text_of(tree)):
        for element in tree.iter(etree.Element):
            if (text := element.text) and has_invisible(text):
                element.text = visible(text)
            if (tail := element.tail) and has_invisible(tail):
                element.tail = visible(tail)


# Parts that servers send late: React's scripts put them where a <template> holds their place.
_STREAMED = re.compile(r"\$R[CSR]\(\s*\"([BPS]:\w+)\"\s*,\s*\"([BPS]:\w+)\"")
# Parts that are moved. A guess that bounds the time.
_MAX_STREAMED = 500


def _place_streamed(tree: HtmlElement) -> None:
    """Put the parts of a streamed page where its scripts put them, and show them."""
    calls = [
        call
        for script in tree.iter("script")
        if script.text and "$R" in script.text
        for call in islice(_STREAMED.finditer(script.text), _MAX_STREAMED)
    ][:_MAX_STREAMED]
    if not calls:
        return
    named = {element.get("id"): element for element in tree.iter("div", "template") if element.get("id")}
    for call in calls:
        # Boundaries name their place first, segments themselves.
        names = sorted(call.groups(), key=lambda name: name[0] == "S")
        place, part = (named.get(name) for name in names)
        if place is None or part is None or part in place.iterancestors():
            continue
        part.attrib.pop("hidden", None)
        tail, part.tail = part.tail, None
        if tail:
            _append_texts([tail], (part.getparent(), part.getprevious()))
        place.addnext(part)


_TEXT_TYPES = frozenset({"articleBody", "text"})


def _show_copies(tree: HtmlElement) -> None:
    """Show the copy for readers without scripts of an article that scripts put in place, as in templates of blogs."""
    for copy in tree.iter("noscript"):
        around = copy.getparent()
        is_place = around.get("itemprop") in _TEXT_TYPES or around.tag in ("article", "main")
        if is_place and _length(copy) >= _MIN_HIDDEN_CHARS:
            others = (each for each in around if each is not copy and each.tag not in _UNSEEN)
            if sum(map(_length, others)) < _MIN_SHOWN_CHARS:
                copy.tag = "div"


def remove_elements(elements: list[HtmlElement]) -> None:
    """Remove elements, in the page's order and none within another, but not the texts behind them."""
    # Texts that come to stand in one place are joined at once: one by one, a page of a hundred thousand small
    # pictures takes minutes.
    place: _Place | None = None
    texts: list[str] = []
    for element in elements:
        here = element.getparent(), element.getprevious()
        if here != place:
            _append_texts(texts, place)
            place, texts = here, []
        texts.append(element.tail or "")
        element.tail = None
        here[0].remove(element)
    _append_texts(texts, place)


def _append_texts(texts: list[str], place: _Place | None) -> None:
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
    is_plain: bool
    """True for a page without style sheets, whose ground is white unless an attribute says otherwise."""


def _hidden_in(tree: HtmlElement, style: _Style, shown: etree._Element | None = None) -> Iterator[HtmlElement]:
    """Yield the outermost hidden elements; `shown` counts as visible, whatever its attributes say."""
    walk = etree.iterwalk(tree, events=("start",))
    for _, element in walk:
        tag = element.tag
        if element is shown or tag == "html" or tag == "body" or not isinstance(tag, str):
            continue
        if (tag in _UNSEEN and _is_unseen(element)) or (
            (tag == "dialog" or element.keys()) and _is_hidden(element, style)
        ):
            walk.skip_subtree()
            yield element


def _is_unseen(element: etree._Element) -> bool:
    if element.tag not in _HOLDERS:
        # trafilatura recognises forums by their structured data.
        return element.tag in _UNSEEN and element.get("type") != "application/ld+json"
    # An element for controls, pictures or struck text may hold the page's heading, or its paragraphs.
    length = 0
    for inner in islice(element.iter("h1", "main", "article", "p"), _MAX_HELD):
        if inner.tag != "p":
            return False
        length += sum(map(text_length, islice(inner.itertext(), _MAX_HELD)))
    return length < _MIN_HELD_CHARS or element.tag in _STRUCK


# Elements that a browser shows with all that is in them, and text that is struck out. The parser takes what follows
# an unclosed one to be in it.
_STRUCK = frozenset({"s", "strike", "del"})
_HOLDERS = frozenset({"button", "picture", "map"}) | _STRUCK
# Characters of paragraphs in such an element from which on it is part of the page. A guess.
_MIN_HELD_CHARS = 500


# Elements, and texts of one, that are looked at. A guess that bounds the time.
_MAX_HELD = 50


def _is_hidden(element: etree._Element, style: _Style) -> bool:
    # The names alone take a third of the time that names and values take.
    names = element.keys()
    if "hidden" in names or ("aria-hidden" in names and element.get("aria-hidden", "").lower() == "true"):
        return True
    if "class" in names:
        classes = element.get("class", "").split()
        if not style.classes.isdisjoint(classes):
            return True
        if not _FOR_LISTENERS.isdisjoint(classes) and _is_more_than_label(element):
            return True
    if "id" in names and element.get("id") in style.ids:
        return True
    # A library for animations will show what has no opacity at first.
    if "style" in names and (
        hides(element.get("style", ""), fades=any(name in element.attrib for name in _ANIMATIONS))
        or (style.is_plain and _has_color_of_ground(element))
    ):
        return True
    return element.tag == "dialog" and "open" not in names


# Classes of widely used style sheets for text that is read out and not shown.
_FOR_LISTENERS = frozenset({"sr-only", "visually-hidden", "visuallyhidden", "screen-reader-text"})
# Characters: what is shorter names what is shown beside it, such as "Regular price". A guess.
_MAX_LABEL_CHARS = 40
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})


def _is_more_than_label(element: etree._Element) -> bool:
    """True for a text that is only read out, unless it is a label or heading, or says what is drawn beside it."""
    beside = (element.getprevious(), element.getnext())
    if any(each is not None and each.get("aria-hidden") == "true" for each in beside):
        return False
    return (
        element.tag not in _HEADINGS
        and sum(map(text_length, islice(element.itertext(), _MAX_HELD))) > _MAX_LABEL_CHARS
    )


def _has_color_of_ground(element: etree._Element) -> bool:
    """True for letters in the color of the ground that the nearest element around them sets, or of a white page."""
    letters, own_ground = colors_of(element.get("style", ""))
    if letters is None or own_ground is not None:
        return False
    for around in element.iterancestors():
        named = around.get("bgcolor")
        ground = colors_of(f"{around.get('style', '')};background:{named}" if named else around.get("style", ""))[1]
        if ground is not None or "background" in around.attrib or "background" in around.get("style", ""):
            return ground == letters
    return letters == "#ffffff"


# A page that its own scripts show


def _waiting_for_scripts(tree: HtmlElement, hidden: list[HtmlElement]) -> HtmlElement | None:
    """Return the hidden element, or copy for readers without scripts, that holds the text of an otherwise empty page.

    None where the main region shows a text: then hidden text is not for its readers.
    """
    region = tree.find(".//main")
    if region is None:
        region = tree.find("body")
    if region is None or not hidden:
        return None
    around = {region, *region.iterancestors()}
    if around.isdisjoint(hidden):
        # Characters that are neither hidden nor in a link, a menu, a header or a footer.
        shown, skipped = 0, set(hidden)
        walk = etree.iterwalk(region, events=("start", "end"))
        for event, element in walk:
            if event == "end":
                shown += 0 if element is region else len((element.tail or "").strip())
            elif element in skipped or element.tag in _AROUND:
                walk.skip_subtree()
            else:
                shown += len((element.text or "").strip())
            if shown >= _MIN_SHOWN_CHARS:
                return None
    texts = [element for element in hidden if element.tag == "noscript" or not _is_unseen(element)]
    lengths = {element: _length(element) for element in texts}
    longest = max(lengths, key=lambda element: lengths[element], default=None)
    if longest is None or lengths[longest] < max(_MIN_HIDDEN_CHARS, _MIN_HIDDEN_SHARE * sum(lengths.values())):
        return None
    return longest if longest in around or region in longest.iterancestors() or region.tag == "body" else None


def _show(element: etree._Element, style: _Style) -> None:
    element.tag = "div"
    for attribute in ("hidden", "aria-hidden", "style"):
        element.attrib.pop(attribute, None)
    if element.get("id") in style.ids:
        del element.attrib["id"]
    if not style.classes.isdisjoint((element.get("class") or "").split()):
        del element.attrib["class"]


def _length(element: etree._Element) -> int:
    return sum(map(text_length, element.itertext()))


# What a control opens

_CONTROL_ATTRIBUTES = frozenset({"aria-controls", "aria-expanded", "data-toggle", "data-bs-toggle", "role"})
_OPENS = frozenset({"collapse", "tab", "pill", "accordion"})
_MENUS = frozenset({"nav", "header", "footer", "dialog"})
_NO_PANELS = _MENUS | {"ul", "form", "aside"}
_PANEL_ROLES = frozenset({"", "region", "tabpanel"})
# Characters of a control's own text: a question, not a paragraph. A guess.
_MAX_CONTROL_CHARS = 300


def _show_opened(tree: HtmlElement, style: _Style) -> None:
    """Show the panels that a control before them opens, and the words of buttons that open them."""
    targets = {
        element: ids
        for element in tree.iter(etree.Element)
        if not _CONTROL_ATTRIBUTES.isdisjoint(element.keys()) and (ids := _controlled_ids(element))
    }
    names = {name for ids in targets.values() for name in ids}
    if not names:
        return
    opened: list[tuple[etree._Element, etree._Element]] = []
    controls: dict[str, etree._Element] = {}
    closed: dict[etree._Element, bool] = {tree: False}  # element → whether its inner elements are out of sight
    for element in [each for each in tree.iter(etree.Element) if each in targets or each.get("id") in names]:
        above = []
        for each in element.iterancestors():
            if each in closed:
                break
            above.append(each)
        for each in reversed(above):
            closed[each] = closed[each.getparent()] or (
                each.tag != "body" and (each.tag in _MENUS or _is_hidden(each, style) or _is_unseen(each))
            )
        parent = element.getparent()
        if parent is None or element.tag == "body" or closed[parent]:
            closed[element] = parent is not None and closed[parent]
            continue
        control = controls.get(element.get("id", ""))
        if control is not None and _opens_panel(control, element):
            opened.append((control, element))
            closed[element] = False
        elif element.tag in _MENUS or _is_hidden(element, style):
            closed[element] = True
        elif element in targets:
            controls.update(dict.fromkeys(targets[element], element))
            closed[element] = False
        else:
            closed[element] = _is_unseen(element)
    for control, panel in opened:
        if control.tag == "button":
            control.tag = "div"
        if _is_hidden(panel, style):
            _show(panel, style)


def _controlled_ids(element: etree._Element) -> list[str]:
    """Return the ids of the elements that it opens; none where it is no such control."""
    toggles = (element.get("data-toggle") or element.get("data-bs-toggle") or "").lower()
    opens = "aria-expanded" in element.attrib or element.get("role") == "tab" or toggles in _OPENS
    names = ("aria-controls", "data-target", "data-bs-target", "href") if opens else ("aria-controls",)
    if toggles and toggles not in _OPENS:
        return []
    return [value.removeprefix("#") for name in names if (value := (element.get(name) or "").strip())]


def _opens_panel(control: etree._Element, panel: etree._Element) -> bool:
    """True where the panel is text that belongs to the page: neither a menu nor a window over it."""
    if panel.tag in _NO_PANELS or panel.get("role", "") not in _PANEL_ROLES or is_named_as_boilerplate(panel):
        return False
    if not (
        panel.get("aria-labelledby") == control.get("id", "")
        or control.get("role") == "tab"
        or any(name in control.attrib for name in ("aria-expanded", "data-toggle", "data-bs-toggle"))
    ):
        return False
    linked = sum(_length(link) for link in panel.iter("a"))
    return 0 < _length(control) <= _MAX_CONTROL_CHARS and linked * 2 < _length(panel)
