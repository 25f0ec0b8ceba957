"""Boilerplate of a page: menus, share bars, consent banners, related pages.

It is recognised by markup, by the heading that an element begins with, and by the share of links in its text.

Own code beside jusText: it judges single paragraphs by their length and stop words, and drops lists and short
answers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TypeAlias

from lxml import etree
from lxml.html import HtmlElement

_TAGS = frozenset({"nav", "footer", "form"})
_ROLES = frozenset(
    {"navigation", "banner", "contentinfo", "complementary", "search", "dialog", "alertdialog", "menu", "menubar"}
    | {"toolbar", "listbox", "alert", "tooltip"}
)

_PARTS = re.compile(r"[^\W_]+")
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_NAMES = frozenset(
    {"breadcrumb", "breadcrumbs", "crumbs", "skip", "footer", "sidebar", "cookie", "cookies", "consent", "gdpr"}
    | {"onetrust", "cookiebot", "newsletter", "subscribe", "signup", "login", "signin", "related", "recommended"}
    | {"recommendations", "recommendation", "promo", "advert", "advertisement", "ads", "sponsored", "modal", "popup"}
    | {"lightbox", "drawer", "toast", "minicart", "upsell", "crosssell", "reviews"}
)
# What bears one of these is a bar of buttons, unless it holds prose: an embedded post, a section of that name.
_BUTTON_NAMES = frozenset({"share", "sharing", "sharer", "social"})
_COMMENT_NAMES = frozenset({"comment", "comments", "commentlist", "respond", "disqus"})
_MENU_NAMES = frozenset(
    {"nav", "navigation", "navbar", "menu", "submenu", "megamenu", "toolbar", "pagination", "pager"}
)
# Most names of elements have none of these words anywhere: one search spares taking them apart.
_MAY_NAME = re.compile("|".join(sorted(_NAMES | _BUTTON_NAMES | _COMMENT_NAMES | _MENU_NAMES)))

_TITLES = (
    r"you (?:may|might|could) (?:also )?(?:like|love|enjoy|need)",
    r"(?:customers|people|others|shoppers|users) (?:who|also)",
    r"(?:frequently|often) bought|recently viewed|also (?:read|viewed|bought)",
    r"similar (?:items|products|posts|articles|stories)",
    r"more (?:from|to explore|like this|stories|articles|posts|news)",
    r"read (?:next|more)|up next|most (?:read|popular|viewed)",
    r"(?:popular|latest) (?:posts|articles|news|stories)",
    r"sign up|subscribe|join our|newsletter|stay (?:up to date|in the loop|connected)|get the app",
    r"follow us|share (?:this|on)|leave a (?:reply|comment)",
    r"advertisement|sponsored|(?:we value )?your privacy|privacy preference|manage consent",
    r"das könnte (?:sie|dich)|ähnliche (?:artikel|produkte|beiträge)|mehr zum thema|weitere (?:artikel|beiträge)",
    r"(?:vous aimerez|à lire|lire) aussi|articles (?:similaires|liés)|produits (?:similaires|associés)",
    r"(?:artículos|productos|noticias|entradas) relacionad|también te (?:puede|podría)",
)
_BOILERPLATE_TITLE = re.compile("|".join(_TITLES), re.IGNORECASE)
# Titles of links to other pages, and also of what is read: "Related work", "Recommended requirements".
_LINKS_TITLE = re.compile(r"recommended|related\b|trending", re.IGNORECASE)
# Share of links in the text below such a title from which on it is of links. A guess.
_MIN_LINKED_SHARE = 0.2
_COMMENTS_TITLE = re.compile(
    r"(?:\d+ )?(?:comments?|responses?|replies|kommentare?|commentaires?|comentarios?)\b", re.IGNORECASE
)
# Characters: a longer heading is of the page's own text. A guess.
_MAX_TITLE_CHARS = 60

# A larger share of the region is never boilerplate, whatever its name or heading: layouts are named carelessly.
# evals/reading/extraction.py measures them.
_MAX_SHARE = 0.65
_MAX_TITLED_SHARE = 0.75


# Characters of text, those of links among them, and the presence of an <h1>.
_Weight: TypeAlias = tuple[int, int, bool]


def find_boilerplate(region: HtmlElement, *, with_comments: bool = True) -> set[etree._Element]:
    """Return the outermost elements under `region` that are boilerplate.

    Readers' comments are included, unless `with_comments` is false.
    """
    weights = _weigh_elements(region)
    whole = weights[region][0]
    titles = (_BOILERPLATE_TITLE, _COMMENTS_TITLE) if with_comments else (_BOILERPLATE_TITLE,)
    titled = {part for part in _titled_parts(region, titles) if _fits(weights[part], _MAX_TITLED_SHARE * whole)}
    for part in _titled_parts(region, (_LINKS_TITLE,)):
        if (
            _fits(weights[part], _MAX_TITLED_SHARE * whole)
            and weights[part][1] > _MIN_LINKED_SHARE * weights[part][0]
        ):
            titled.add(part)
    names = _NAMES | _COMMENT_NAMES if with_comments else _NAMES
    found: set[etree._Element] = set()
    names_boilerplate: dict[str, tuple[bool, ...]] = {}  # class and id → as boilerplate, as a menu, as buttons
    walk = etree.iterwalk(region, events=("start",))
    for _, element in walk:
        if element is region or not isinstance(element.tag, str):
            continue
        weight = weights[element]
        mostly_links = weight[1] * 2 > weight[0]
        if element in titled:
            is_boilerplate = True
        elif not _fits(weight, _MAX_SHARE * whole):
            is_boilerplate = False
        elif element.tag in _TAGS or element.get("role", "").lower() in _ROLES or element.get("aria-modal") == "true":
            is_boilerplate = True
        elif element.tag in ("header", "aside"):
            is_boilerplate = mostly_links
        else:
            name = _name_of(element)
            if name not in names_boilerplate:
                words = _words_of(name) if _MAY_NAME.search(name.lower()) else set()
                names_boilerplate[name] = tuple(
                    not words.isdisjoint(each) for each in (names, _MENU_NAMES, _BUTTON_NAMES)
                )
            is_named, is_named_as_menu, is_named_as_buttons = names_boilerplate[name]
            is_boilerplate = is_named or (mostly_links and is_named_as_menu)
            if is_named_as_buttons and not is_boilerplate:
                paragraphs = (weights[paragraph] for paragraph in element.iter("p"))
                is_boilerplate = all(text - linked < _MIN_PROSE_CHARS for text, linked, _ in paragraphs)
        if is_boilerplate:
            found.add(element)
            walk.skip_subtree()
    return found


def is_named_as_boilerplate(element: etree._Element) -> bool:
    """True where a word of its class or id names only boilerplate, such as `cookie-banner` or `shareTools`."""
    return not _words_of(_name_of(element)).isdisjoint(_NAMES | _MENU_NAMES | _BUTTON_NAMES)


# Characters of a paragraph, without its links, that is no caption of buttons. A guess.
_MIN_PROSE_CHARS = 100


def _weigh_elements(region: HtmlElement) -> dict[etree._Element, _Weight]:
    """Return the characters of text in each element, and those of its links."""
    weights: dict[etree._Element, _Weight] = {}
    for _, element in etree.iterwalk(region, events=("end",)):
        tag = element.tag
        length, linked, has_h1 = text_length(element.text), 0, tag == "h1"
        for child in element:
            if (tail := child.tail) and not tail.isspace():
                length += text_length(tail)
            if inner := weights.get(child):
                length += inner[0]
                linked += inner[1]
                has_h1 |= inner[2]
        weights[element] = length, length if tag == "a" else linked, has_h1
    return weights


def text_of(element: etree._Element) -> str:
    """Return all text in an element, without what follows it."""
    # A fifth of the time that joining `itertext` takes.
    text: str = etree.tostring(element, encoding="unicode", method="text", with_tail=False)
    return text


def text_length(text: str | None) -> int:
    """Return the characters of a text as a browser shows it, where blanks and line ends in a row are one blank."""
    return len(" ".join(text.split())) if text else 0


def _fits(weight: _Weight, most: float) -> bool:
    text, _, has_h1 = weight
    return not has_h1 and text <= most


def _name_of(element: etree._Element) -> str:
    return f"{element.get('class') or ''} {element.get('id') or ''}"


def _words_of(name: str) -> set[str]:
    """Return the words of an element's class and id, in lower case, without those that hold digits."""
    parts = (part for part in _PARTS.findall(name) if not any(map(str.isdigit, part)))
    return {word.lower() for part in parts for word in _WORDS.findall(part)}


def _titled_parts(region: HtmlElement, titles: tuple[re.Pattern[str], ...]) -> Iterator[etree._Element]:
    """Yield the parts that begin with a heading such as "You may also like", and hold more than that heading."""
    for heading in region.iter("h2", "h3", "h4", "h5", "h6"):
        title = " ".join("".join(heading.itertext()).split())
        if len(title) <= _MAX_TITLE_CHARS and any(each.match(title) for each in titles):
            part = heading
            while (above := part.getparent()) is not None and above is not region:
                if (above.text or "").strip():
                    break
                # The part has to be the first in `above` that holds text.
                inner = (
                    each
                    for each in above
                    if each is part or "".join(each.itertext()).strip() or (each.tail or "").strip()
                )
                if next(inner) is not part:
                    break
                part = above
            if part is not heading:
                yield part


def is_beside_article(element: etree._Element) -> bool:
    """True for a part of the page whose dates are not the page's: a site's header, a footer, comments, an event."""
    if element.tag in ("nav", "footer", "aside", "form"):
        return True
    names = f"{element.get('class') or ''} {element.get('id') or ''}"
    if names != " " and _names_part_beside(names) and element.tag not in ("body", "html", "main"):
        return next(element.iter("h1"), None) is None
    if element.tag == "header":
        is_sites = all(above.tag not in ("article", "main") for above in element.iterancestors())
        return is_sites and next(element.iter("h1"), None) is None
    return bool(OTHER_TYPES.search(element.get("itemtype") or ""))


_BESIDE = re.compile(
    r"comment(?!ary)|masthead|top-?bar|site-?header|clock|ticker|weather|related|sidebar\b", re.IGNORECASE
)


@lru_cache(maxsize=4096)
def _names_part_beside(names: str) -> bool:
    return _BESIDE.search(names) is not None


# Types of things on a page that have dates of their own.
OTHER_TYPES = re.compile(r"schema\.org/(?:\w*Comments?|Review|Answer|\w*Event|Offer)$")
