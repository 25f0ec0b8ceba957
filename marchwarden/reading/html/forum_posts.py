"""The posts of a discussion: who wrote, when, and what, where a page is a forum's thread or a question with answers.

Told by structure: elements that are named or typed alike as posts are, each with a date, hold much of the page's
text. What a post says is in the largest part that all posts have and that holds neither date nor author.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from lxml import etree
from lxml.html import HtmlElement

from marchwarden.reading.html.page_type import PageKind

_POST = re.compile(r"(?:^|[-_])(?:c|ips|js-)?(?:post|msg|message)(?!s)", re.IGNORECASE)
_REPLY = re.compile(r"(?:^|[-_])(?:c|ips|js-)?(?:comment|reply|answer|question)(?!s)", re.IGNORECASE)
_POST_TYPE = re.compile(r"/(?:Comment|Answer|Question|DiscussionForumPosting)$")
_DATE = re.compile(r"\b(?:19|20)\d\d\b|\bago\b|\b\d\d?:\d\d\b|\byesterday\b|\btoday\b", re.IGNORECASE)
_AUTHOR = re.compile(r"user-?name|author|poster(?!ior)|display-?name", re.IGNORECASE)
_LONGEST_DATE = 60
_LONGEST_AUTHOR = 40
_LONGEST_NAME = 30
"""A heading in a post that is longer than a name is the title of an article: the page lists those of a blog."""

_FEWEST = 2
_FEWEST_UNDECLARED = 3
_NEARLY_ALL = 0.8
_SHARE = 0.4
_SHARE_DECLARED = 0.2
_LEAST_SAID = 0.25
_LEAST_QUOTED = 10
"""Characters in one piece: fewer may be the same by chance."""
_TYPED_TEXT = "itemprop=text"

Lengths = Mapping[etree._Element, int]


@dataclass(frozen=True)
class Post:
    about: tuple[etree._Element, ...]
    """The elements that name its author and its date, each where there is one."""
    content: etree._Element


def posts_in(region: HtmlElement, declared: PageKind | None) -> list[Post]:
    """The posts of a thread, in the page's order; none where `region` is not mainly a thread. `declared` is the kind
    of page that it declares itself to be."""
    if declared == "article":
        return []
    is_forum = declared == "forum"
    lengths = _lengths_in(region)
    dates = {element for element in lengths if _is_date(element)}
    least = (_SHARE_DECLARED if is_forum else _SHARE) * lengths[region]
    groups = [(_length_together(group, lengths), group) for group in _groups(lengths, dates, with_replies=is_forum)]
    groups.reverse()  # of two that hold the same, the outer one comes first
    for length, group in sorted(groups, key=lambda each: -each[0]):
        enough = len(group) >= (_FEWEST if is_forum else _FEWEST_UNDECLARED)
        if enough and length > least and (found := _read(region, group, lengths, dates)):
            return found
    return []


def quotes_in(content: etree._Element, said: str) -> set[etree._Element]:
    """The quotations in a post of what was `said` in the posts before it, each with whatever names who said it."""
    longest = {
        quote: max((" ".join(text.split()) for text in quote.itertext()), key=len, default="")
        for quote in content.iter("blockquote")
    }
    return {quote for quote, text in longest.items() if len(text) >= _LEAST_QUOTED and text in said}


def _lengths_in(region: HtmlElement) -> dict[etree._Element, int]:
    """How many characters of text each element under `region` holds, itself included."""
    lengths: dict[etree._Element, int] = {}
    for _, element in etree.iterwalk(region, events=("end",)):
        if isinstance(element.tag, str):
            inner = sum(lengths.get(child, 0) + _visible_length(child.tail) for child in element)
            lengths[element] = inner + _visible_length(element.text)
    return lengths


def _visible_length(text: str | None) -> int:
    return len(" ".join(text.split())) if text else 0


# Which elements are posts


def _groups(lengths: Lengths, dates: set[etree._Element], *, with_replies: bool) -> Iterator[list[etree._Element]]:
    """Elements that are named alike, as posts are, each with a date, or typed as posts; some may be within others.

    What is named a comment or a reply counts where the page says that it is a forum: else it may be below an article.
    """
    dated = _with_all_above(dates)
    groups: dict[tuple[str, str], list[etree._Element]] = defaultdict(list)
    for element in lengths:
        for name in _post_names(element, with_replies=with_replies):
            if name[0] == "@" or element in dated:
                groups[element.tag, name].append(element)
    yield from (each for each in groups.values() if not _are_articles(each, lengths))


def _length_together(group: list[etree._Element], lengths: Lengths) -> int:
    members = set(group)
    return sum(lengths[each] for each in group if members.isdisjoint(each.iterancestors()))


def _post_names(element: etree._Element, *, with_replies: bool) -> set[str]:
    patterns = (_POST, _REPLY) if with_replies else (_POST,)
    tokens = (element.get("class") or "").split()
    names = {re.sub(r"\d+", "", token) for token in tokens if any(each.search(token) for each in patterns)}
    if any(each.match(element.get("id") or "") for each in patterns):
        names.add("#")
    if with_replies and (typed := _POST_TYPE.search(element.get("itemtype") or "")):
        names.add("@Comment" if typed[0] == "/Comment" else "@")
    return names


def _are_articles(group: list[etree._Element], lengths: Lengths) -> bool:
    titled = [
        post for post in group if any(lengths[each] > _LONGEST_NAME for each in post.iter("h1", "h2", "h3", "h4"))
    ]
    return len(titled) > len(group) / 2


def _is_date(element: etree._Element) -> bool:
    if element.tag == "time":
        return True
    own = ((element.text or "") + "".join(child.tail or "" for child in element)).strip()
    return 3 < len(own) <= _LONGEST_DATE and bool(_DATE.search(own))


def _is_author(element: etree._Element, lengths: Lengths) -> bool:
    named = f"{element.get('class') or ''} {element.get('itemprop') or ''}"
    return 1 < lengths[element] <= _LONGEST_AUTHOR and bool(_AUTHOR.search(named))


# What they say


def _read(
    region: HtmlElement, posts: list[etree._Element], lengths: Lengths, dates: set[etree._Element]
) -> list[Post]:
    """The posts, and what stands elsewhere in a part of the same kind: the question that they answer."""
    authors = {element for element in lengths if _is_author(element, lengths)}
    mark = _content_mark(posts, lengths, dates, authors)
    if mark is None:
        return []
    members = set(posts)
    marked = [element for element in region.iter(etree.Element) if mark in _marks(element)]
    contents: dict[etree._Element, etree._Element | None] = {}
    read: set[etree._Element] = set()
    for content in marked:
        post = next((above for above in content.iterancestors() if above in members), None)
        if post not in read:
            contents[content] = post
            read.update(() if post is None else (post,))
    looks = {_look(content) for content, post in contents.items() if post is not None}
    return [
        Post(() if post is None else _about(post, content, dates, authors), content)
        for content, post in contents.items()
        if (post is not None or _look(content) in looks) and contents.keys().isdisjoint(content.iterancestors())
    ]


def _look(element: etree._Element) -> tuple[str, str | None]:
    return element.tag, element.get("class")


def _content_mark(
    posts: list[etree._Element], lengths: Lengths, dates: set[etree._Element], authors: set[etree._Element]
) -> str | None:
    """The mark of the largest part that nearly all posts have, and that holds neither their date nor their author."""
    shared = _shared(posts, dates)
    around = _with_all_above(posts)
    having: Counter[str] = Counter()
    length: Counter[str] = Counter()
    with_about: Counter[str] = Counter()
    for post in posts:
        about = _with_all_above(_about_elements(post, dates, authors, shared))
        seen: set[str] = set()
        for element in post.iterdescendants(etree.Element):
            for mark in () if element in around else _marks(element):
                if mark not in seen:
                    seen.add(mark)
                    having[mark] += 1
                    length[mark] += lengths[element]
                    with_about[mark] += element in about
    enough = _NEARLY_ALL * len(posts)
    marks = [mark for mark, count in having.items() if count >= enough and with_about[mark] <= len(posts) - enough]
    typed = having[_TYPED_TEXT] == len(posts)
    best = _TYPED_TEXT if typed else max(marks, key=lambda mark: length[mark], default=None)
    said = _length_together(posts, lengths)
    return best if best is not None and length[best] > _LEAST_SAID * said else None


def _about_elements(
    post: etree._Element, dates: set[etree._Element], authors: set[etree._Element], shared: set[str]
) -> Iterator[etree._Element]:
    """Its first date at each of the places where all posts have one, and the first that is named as an author."""
    awaited = set(shared)
    found = False
    for element in post.iterdescendants(etree.Element):
        if element in dates and not awaited.isdisjoint(marks := set(_place_marks(element))):
            awaited -= marks
            yield element
        elif not found and element in authors:
            found = True
            yield element


def _with_all_above(elements: Iterable[etree._Element]) -> set[etree._Element]:
    found: set[etree._Element] = set()
    for element in elements:
        while element is not None and element not in found:
            found.add(element)
            element = element.getparent()
    return found


def _shared(posts: list[etree._Element], elements: set[etree._Element]) -> set[str]:
    """The marks of those of `elements` that nearly all posts have."""
    having = Counter(
        mark
        for post in posts
        for mark in {
            mark for each in post.iterdescendants(etree.Element) if each in elements for mark in _place_marks(each)
        }
    )
    return {mark for mark, count in having.items() if count >= _NEARLY_ALL * len(posts)}


def _place_marks(element: etree._Element) -> Iterable[str]:
    """Its own marks, or where it stands if it has none."""
    own = list(_marks(element))
    if own or element.tag == "time":
        return own or ["time"]
    above = element.getparent()
    return [f"{mark}>{element.tag}" for mark in (_marks(above) if above is not None else ())] or [str(element.tag)]


def _marks(element: etree._Element) -> Iterator[str]:
    yield from (element.get("class") or "").split()
    for attribute in ("itemprop", "data-role", "slot"):
        if value := element.get(attribute):
            yield f"{attribute}={value}"


def _about(
    post: etree._Element, content: etree._Element, dates: set[etree._Element], authors: set[etree._Element]
) -> tuple[etree._Element, ...]:
    said = set(content.iter())
    outside = [each for each in post.iterdescendants(etree.Element) if each not in said]
    author = next((each for each in outside if each in authors), None)
    when = next((each for each in outside if each.tag == "time" or (each in dates and each.tag != "dd")), None)
    return tuple(each for each in (author, when) if each is not None)
