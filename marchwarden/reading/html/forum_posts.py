"""Posts of a forum's thread, or of a question with answers: author, date and content of each.

Posts are recognised by structure: elements with the same name or type, each with a date, hold much of the page's
text. A post's content is the largest part that all posts have and that holds neither date nor author.

Own code beside trafilatura, which reads a thread's comments as one text and loses where a post begins.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from lxml import etree
from lxml.html import HtmlElement

from marchwarden.reading.html.boilerplate import text_length, text_of
from marchwarden.reading.html.page_type import PageKind

_POST = re.compile(r"(?:^|[-_])(?:c|ips|js-)?(?:post|msg|message)(?!s)", re.IGNORECASE)
_REPLY = re.compile(r"(?:^|[-_])(?:c|ips|js-)?(?:comment|reply|answer|question)(?!s)", re.IGNORECASE)
_POST_TYPE = re.compile(r"/(?:Comment|Answer|Question|DiscussionForumPosting)$")
_DATE = re.compile(r"\b(?:19|20)\d\d\b|\bago\b|\b\d\d?:\d\d\b|\byesterday\b|\btoday\b", re.IGNORECASE)
_AUTHOR = re.compile(r"user-?name|author|poster(?!ior)|display-?name", re.IGNORECASE)
# Characters of an element that is nothing but a date, or an author. Guesses.
_MAX_DATE_CHARS = 60
_MAX_AUTHOR_CHARS = 40
# A heading in a post that is longer than a name is the title of an article: the page lists those of a blog.
_MAX_NAME_CHARS = 30

# evals/reading/extraction.py measures what these shares and counts do on forums among other pages.
# Posts of a thread on a page that declares itself a forum, and on others.
_MIN_POSTS = 2
_MIN_POSTS_UNDECLARED = 3
# A part counts as shared where this share of the posts has it: some are deleted or quoted.
_NEARLY_ALL = 0.8
# Least share of the region's text that the posts hold: on other pages, on declared forums, and of replies on others.
_MIN_SHARE = 0.4
_MIN_SHARE_DECLARED = 0.2
_MIN_SHARE_OF_REPLIES = 0.7
# Characters of sentences beside replies from which on these are below an article, or a question. A guess.
_MIN_ARTICLE_CHARS = 150
# Least share of the posts' text that their contents hold.
_MIN_CONTENT_SHARE = 0.25
# Characters in one piece of a quotation: fewer may be the same by chance.
_MIN_QUOTE_CHARS = 10
# Characters of a paragraph that leads in to a quotation. A guess.
_MAX_LEAD_IN_CHARS = 120
_TYPED_TEXT = "itemprop=text"

Lengths = Mapping[etree._Element, int]


@dataclass(frozen=True)
class Post:
    about: tuple[etree._Element, ...]
    """Elements that name the author and the date, each where there is one."""
    content: etree._Element


def find_posts(region: HtmlElement, declared: PageKind | None) -> list[Post]:
    """Return the posts of a thread in the page's order; none where `region` is not mainly a thread.

    `declared` is the kind of page that the page declares itself to be.
    """
    if declared == "article":
        return []
    is_forum = declared == "forum"
    lengths = _count_characters(region)
    dates: set[etree._Element] = set()
    prose: list[etree._Element] = []
    for element in lengths:
        own = ((element.text or "") + "".join(child.tail or "" for child in element)).strip()
        if element.tag == "time" or (3 < len(own) <= _MAX_DATE_CHARS and _DATE.search(own)):
            dates.add(element)
        elif len(own) > _MAX_DATE_CHARS and element.tag != "a":
            prose.append(element)
    # Replies may stand below an article, so on a page that declares no forum they have to be all of its prose.
    passes = [(_MIN_SHARE_DECLARED, True)] if is_forum else [(_MIN_SHARE, False), (_MIN_SHARE_OF_REPLIES, True)]
    for share, with_replies in passes:
        groups = [
            (_length_together(group, lengths), group)
            for group in _candidates(lengths, dates, with_replies=with_replies)
        ]
        groups.reverse()  # of two that hold the same, the outer one comes first
        for length, group in sorted(groups, key=lambda each: -each[0]):
            enough = len(group) >= (_MIN_POSTS if is_forum else _MIN_POSTS_UNDECLARED)
            if not enough or length <= share * lengths[region]:
                continue
            members = set(group)
            outside = (each for each in prose if members.isdisjoint((each, *each.iterancestors())))
            if with_replies and not is_forum and sum(lengths[each] for each in outside) >= _MIN_ARTICLE_CHARS:
                continue
            if found := _read_posts(region, group, lengths, dates):
                return found
    return []


def find_quotes(content: etree._Element, said: str) -> set[etree._Element]:
    """Return the quotations in a post of text that earlier posts `said`; each includes the name of who said it.

    A short paragraph that leads in to one ("Ada said in Seeds:") is among them.
    """
    longest = {
        quote: max((" ".join(text.split()) for text in quote.itertext()), key=len, default="")
        for quote in content.iter("blockquote")
    }
    quotes = {quote for quote, text in longest.items() if len(text) >= _MIN_QUOTE_CHARS and text in said}
    return quotes | {above for quote in quotes if (above := quote.getprevious()) is not None and _leads_in(above)}


def _leads_in(element: etree._Element) -> bool:
    text = " ".join(text_of(element).split())
    return len(text) <= _MAX_LEAD_IN_CHARS and text.endswith(":") and not (element.tail or "").strip()


def _count_characters(region: HtmlElement) -> dict[etree._Element, int]:
    """Return the number of characters in each element under `region`, itself included, blanks collapsed."""

    lengths: dict[etree._Element, int] = {}
    for _, element in etree.iterwalk(region, events=("end",)):
        if isinstance(element.tag, str):
            inner = sum(lengths.get(child, 0) + text_length(child.tail) for child in element)
            lengths[element] = inner + text_length(element.text)
    return lengths


# Which elements are posts


def _candidates(
    lengths: Lengths, dates: set[etree._Element], *, with_replies: bool
) -> Iterator[list[etree._Element]]:
    """Yield groups of elements that have the same name, as posts have, and a date each, or the type of posts.

    Some may be within others. Elements named as comments or replies count only `with_replies`.
    """
    dated = _with_all_above(dates)
    patterns = (_POST, _REPLY) if with_replies else (_POST,)
    groups: dict[tuple[str, str], list[etree._Element]] = defaultdict(list)
    for element in lengths:
        tokens = (element.get("class") or "").split()
        names = {re.sub(r"\d+", "", token) for token in tokens if any(each.search(token) for each in patterns)}
        if any(each.match(element.get("id") or "") for each in patterns):
            names.add("#")
        if with_replies and (typed := _POST_TYPE.search(element.get("itemtype") or "")):
            names.add("@Comment" if typed[0] == "/Comment" else "@")
        for name in names:
            if name[0] == "@" or element in dated:
                groups[element.tag, name].append(element)
    for group in groups.values():
        headings = (post.iter("h1", "h2", "h3", "h4") for post in group)
        titled = sum(any(lengths[each] > _MAX_NAME_CHARS for each in inner) for inner in headings)
        if titled <= len(group) / 2:
            yield group


def _length_together(group: list[etree._Element], lengths: Lengths) -> int:
    members = set(group)
    return sum(lengths[each] for each in group if members.isdisjoint(each.iterancestors()))


# Contents of posts


def _read_posts(
    region: HtmlElement, posts: list[etree._Element], lengths: Lengths, dates: set[etree._Element]
) -> list[Post]:
    """Return the posts, and parts of the same kind elsewhere on the page: the question that they answer."""
    authors = {
        element
        for element, length in lengths.items()
        if 1 < length <= _MAX_AUTHOR_CHARS
        and _AUTHOR.search(f"{element.get('class') or ''} {element.get('itemprop') or ''}")
    }
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
    looks = {content: (content.tag, content.get("class")) for content in contents}
    looks_of_posts = {looks[content] for content, post in contents.items() if post is not None}
    return [
        Post(() if post is None else _about(post, content, dates, authors), content)
        for content, post in contents.items()
        if (post is not None or looks[content] in looks_of_posts)
        and contents.keys().isdisjoint(content.iterancestors())
    ]


def _content_mark(
    posts: list[etree._Element], lengths: Lengths, dates: set[etree._Element], authors: set[etree._Element]
) -> str | None:
    """Return the mark of the largest part that nearly all posts have, and that holds neither date nor author."""
    having_date = Counter(
        mark
        for post in posts
        for mark in {
            mark for each in post.iterdescendants(etree.Element) if each in dates for mark in _place_marks(each)
        }
    )
    shared = {mark for mark, count in having_date.items() if count >= _NEARLY_ALL * len(posts)}
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
    return best if best is not None and length[best] > _MIN_CONTENT_SHARE * said else None


def _about_elements(
    post: etree._Element, dates: set[etree._Element], authors: set[etree._Element], shared: set[str]
) -> Iterator[etree._Element]:
    """Yield the post's first date at each of the places where all posts have one, and its first author."""
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


def _place_marks(element: etree._Element) -> Iterable[str]:
    """Return the element's own marks, or those of its place where it has none."""
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
