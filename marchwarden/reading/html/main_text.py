"""HTML → the blocks of its main text: visible text in reading order, without navigation.

A thread is read post by post. Of other pages the main region is read without its boilerplate; where that is an
article, trafilatura chooses more finely. Metadata and paywalls are read elsewhere, from the same tree.

Own code beside trafilatura: it is made for articles, and loses much of threads, products, lists and documentation.
evals/reading/extraction.py measures both.
"""

from __future__ import annotations

import logging
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice

from lxml import etree
from lxml.html import HtmlElement, HTMLParser, document_fromstring

from marchwarden.reading.html.blocks import CODE_LINE_END, is_code, read_blocks, replace_each
from marchwarden.reading.html.boilerplate import find_boilerplate, is_beside_article, text_length, text_of
from marchwarden.reading.html.forum_posts import Post, find_posts, find_quotes
from marchwarden.reading.html.notation.lists import BOILERPLATE_TAGS
from marchwarden.reading.html.page_type import PageKind, declared_kind
from marchwarden.reading.text_blocks import MOST_CHARACTERS, Block
from marchwarden.reading.text_lengths import latin_length

_log = logging.getLogger(__name__)

_ENCODING_DECLARATION = re.compile(r"^\s*<\?xml[^>]*\?>", re.IGNORECASE)

# On a larger page no posts are looked for, and trafilatura is not used: either would take seconds.
MAX_ELEMENTS = 15_000

# Most of these were chosen on one half of a public set of pages of seven kinds; evals/reading/extraction.py measures
# both halves.
# Fewer quotable characters are too little to be a page's main text.
_MIN_TEXT_CHARS = 250
# Fewer are next to nothing, as a caption or a button. A guess.
_NOTHING_CHARS = 50
# Characters from which on a paragraph counts as prose.
_MIN_PROSE_CHARS = 100
# Share of a text in such paragraphs from which on it is prose.
_PROSE_SHARE = 0.7
# The same for trafilatura's choice where it is short, and the prose that it may lack, as a share of its length.
# Chosen on trafilatura's own test pages, too.
_PURE_PROSE_SHARE = 0.8
_MAX_LOST_SHARE = 0.15
# Bounds of the length of trafilatura's choice, as shares of the main region's length.
_MIN_CHOSEN_SHARE = 0.5
_MAX_CHOSEN_SHARE = 1.1
# The lower bound where a declared article has no marked main region. A guess: of seven such pages it is 0.19 to 0.48.
_MIN_SCATTERED_SHARE = 0.15
# trafilatura's choice is several times as long as ours from this factor on. A guess.
_SEVERAL = 2
# Share of our choice from which on the parts that we left out for their names may hold the article. A guess.
_MIN_NAMED_SHARE = 0.4


_ALL_ALIKE = etree.ElementDefaultClassLookup(element=HtmlElement)


def parse(markup: str) -> HtmlElement | None:
    """Parse a document, without comments and processing instructions; None where it is empty."""
    markup = _ENCODING_DECLARATION.sub("", markup[:MOST_CHARACTERS].replace("\0", ""), count=1)
    parser = HTMLParser(remove_comments=True, remove_pis=True, encoding="utf-8")
    # lxml.html asks a Python function for the class of each element, which only those of forms have of their own.
    parser.set_element_class_lookup(_ALL_ALIKE)
    try:
        return document_fromstring(markup.encode("utf-8", "replace"), parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError):
        return None


# The main text


def main_blocks(tree: HtmlElement) -> list[Block]:
    """Return the main text of a tree that `prepare` has changed. Changes `tree`."""
    back = _replace_blanks(tree)
    region = _main_region(tree)
    is_huge = _count_elements(tree) > MAX_ELEMENTS
    kind = declared_kind(tree)
    if not is_huge and (posts := find_posts(region, kind)):
        return without_repeats(_thread_blocks(tree, posts, back))
    links = {" ".join(text_of(anchor).split()) for anchor in tree.iter("a")}
    if back:
        links = {text if text.isascii() else " ".join(replace_each(text, back).split()) for text in links}
    boilerplate = find_boilerplate(region, with_comments=kind != "forum")
    own = without_repeats(read_blocks(region, left_out=boilerplate, translate=back))
    # Characters of the boilerplate that is known by its name, title or role alone.
    known_by_name = (element for element in boilerplate if element.tag not in BOILERPLATE_TAGS)
    named = sum(text_length(text) for element in known_by_name for text in element.itertext())
    is_short = _count_quotable(own) < _MIN_TEXT_CHARS
    is_marked = region.tag != "body"
    if kind == "product":
        needs_choice = is_short or named > _count_characters(own)
    else:
        needs_choice = kind == "article" or is_short or _is_prose(own)
    # Around the text of other pages may be much boilerplate that nothing marks.
    may_be_around = kind is None and not is_marked and not needs_choice and _is_prose(own, _MIN_SCATTERED_SHARE)
    blocks = own
    # Comparing its choice with other extractors takes a third of trafilatura's time. It is left out where the choice
    # is good enough without, and no more than our own: that changes 3 of 400 pages (evals/reading/extraction.py).
    modes = (False,) if is_short else (True,) if may_be_around else (True, False)
    for fast in modes if (needs_choice or may_be_around) and not is_huge else ():
        chosen = _trafilatura_blocks(tree, region, back, fast=fast)
        if fast and _count_characters(chosen) > _count_characters(own):
            continue
        # Other articles that are listed below this one are not what its choice lacks.
        whole = _without_teasers(own, chosen, links) if kind == "article" else own
        if _is_better(chosen, whole, kind=kind, named=named, is_region_marked=is_marked) or (
            kind == "article"
            and is_marked
            and _is_elsewhere(chosen, own, region, _own_blocks(_body(tree), kind, back))
        ):
            blocks = with_lost_lists(chosen, own, links)
            if kind == "article" and (lead := _lost_lead(chosen, own, tree, back, links)) is not None:
                blocks = _with_lead(blocks, own, lead)
            break
    if blocks is own and is_short and is_marked:
        blocks = _own_blocks(_body(tree), kind, back)
    if kind == "article" and _count_quotable(blocks) < min(_NOTHING_CHARS, named):
        # All of a declared article bears the name of boilerplate: then the name says nothing.
        blocks = without_repeats(read_blocks(region, skip=BOILERPLATE_TAGS, translate=back))
    # A short line that is nothing but a link is a button, as in menus that are set in tables.
    return [
        replace(block, shown=False)
        if block.kind in ("paragraph", "line") and len(block.text) < _MIN_LINK_CHARS and block.text in links
        else block
        for block in blocks
    ]


def _own_blocks(region: HtmlElement, kind: PageKind | None, back: dict[str, str]) -> list[Block]:
    boilerplate = find_boilerplate(region, with_comments=kind != "forum")
    return without_repeats(read_blocks(region, left_out=boilerplate, translate=back))


def _is_prose(blocks: list[Block], share: float = _PROSE_SHARE) -> bool:
    texts = (block.text for block in blocks if block.kind in ("paragraph", "line"))
    lengths = map(latin_length, texts)
    long = sum(length for length in lengths if length >= _MIN_PROSE_CHARS)
    return long > share * _count_characters(blocks)


def _is_better(
    chosen: list[Block], own: list[Block], *, kind: PageKind | None, named: int, is_region_marked: bool
) -> bool:
    """True where `chosen` is neither a mere part of the page's text nor more than its main region.

    `named` is the number of characters that were left out of `own` for their names.
    """
    taken, there = _count_characters(chosen), _count_characters(own)
    if _count_quotable(own) < _MIN_TEXT_CHARS:
        return not own or (taken >= _MIN_TEXT_CHARS and _is_prose(chosen))
    if taken > _MAX_CHOSEN_SHARE * there:
        # Names such as "share" are also given to what holds the article: then it is more than all the rest.
        is_within = taken <= _MAX_CHOSEN_SHARE * (there + named)
        if kind == "product":
            return is_within and taken > _SEVERAL * there and _is_prose(chosen)
        return kind == "article" and is_within and named > _MIN_NAMED_SHARE * there
    if kind == "product":
        return False
    if kind == "article" and taken >= _MIN_CHOSEN_SHARE * there:
        return True
    held, prose = _count_held_prose(chosen, own)
    if (kind == "article" or not is_region_marked) and taken >= max(_MIN_SCATTERED_SHARE * there, _MIN_TEXT_CHARS):
        # It is prose, and all that there is but for a remainder: then what is around it is boilerplate.
        if prose - held <= _MAX_LOST_SHARE * taken and _is_prose(chosen, _PURE_PROSE_SHARE):
            return True
        # Where the markup names no main region, much of the page is around the article.
        if kind == "article" and not is_region_marked and not _is_prose(own) and _is_prose(chosen):
            return True
    return _is_prose(own) and taken >= _MIN_CHOSEN_SHARE * there and held >= _PROSE_SHARE * prose


def _count_held_prose(chosen: list[Block], own: list[Block]) -> tuple[int, int]:
    """Return the characters of paragraphs and long items of `own` that are in `chosen`, and those of all of them."""
    text = "\n".join(" ".join(block.text.split()) for block in chosen)
    prose = [block.text for block in own if block.kind in _PROSE and latin_length(block.text) >= _MIN_PROSE_CHARS]
    held = [each for each in prose if " ".join(each.split())[:_BEGINNING_CHARS] in text]
    return sum(map(latin_length, held)), sum(map(latin_length, prose))


def _without_teasers(own: list[Block], chosen: list[Block], links: set[str]) -> list[Block]:
    """Return `own` without what follows the end of `chosen`, where that is a list of links with a text to each."""
    taken = {" ".join(block.text.split()) for block in chosen}
    end = next((at for at in range(len(own), 0, -1) if " ".join(own[at - 1].text.split()) in taken), len(own))
    rest = own[end:]
    headings = [" ".join(block.text.split()) for block in rest if block.kind == "heading"]
    if len(headings) < _MIN_TEASERS:
        return own
    ordered = sorted(links)
    places = ((heading, bisect_left(ordered, heading)) for heading in headings)
    titles = sum(at < len(ordered) and ordered[at].startswith(heading) for heading, at in places)
    texts = sum(block.kind in _PROSE and latin_length(block.text) >= _MIN_PROSE_CHARS for block in rest)
    return own[:end] if titles >= max(_MIN_TEASERS, texts) else own


# Titles that are links from which on they are a list. A guess.
_MIN_TEASERS = 2
_PROSE = frozenset({"paragraph", "line", "item"})
# Characters by which a paragraph is found again: trafilatura may cut off what follows. A guess.
_BEGINNING_CHARS = 60


def _is_elsewhere(chosen: list[Block], own: list[Block], region: HtmlElement, body: list[Block]) -> bool:
    """True where the main region is only a column of the page: `chosen` is several times as long, and stands there.

    `body` are the blocks of the whole page without its boilerplate.
    """
    has_title = next(region.iter("h1"), None) is not None
    if has_title or _count_characters(chosen) <= _SEVERAL * _count_characters(own) or not _is_prose(chosen):
        return False
    there = {block.text for block in body}
    long = [block.text for block in chosen if latin_length(block.text) >= _MIN_PROSE_CHARS]
    return sum(text in there for text in long) > _PROSE_SHARE * len(long)


def _thread_blocks(tree: HtmlElement, posts: list[Post], back: dict[str, str]) -> Iterator[Block]:
    """Yield the thread's title, and each post's author and date (which are no passages) and content."""
    title = next(tree.iter("h1"), None)
    if title is not None:
        yield from read_blocks(title, translate=back)
    said = ""
    for post in posts:
        for element in post.about:
            for block in read_blocks(element, translate=back):
                yield replace(block, kind="line", shown=False)
        yield from read_blocks(post.content, left_out=find_quotes(post.content, said), translate=back)
        said += " " + " ".join("".join(post.content.itertext()).split())


def without_repeats(blocks: Iterable[Block]) -> list[Block]:
    """Drop blocks that stood on the page before, and blocks that stand there twice running.

    A long block is dropped the second time, with the shorter blocks that follow it both times: a quoted post, or a
    part that is there once for each layout. One that is there more often stays, such as a condition of several
    offers.
    """
    blocks = list(blocks)
    texts = [" ".join(block.text.split()) for block in blocks]
    times = Counter(text for text in texts if len(text) >= _MIN_REPEAT_CHARS)
    first: dict[str, int] = {}
    kept: list[Block] = []
    repeated = -1
    for at, (block, text) in enumerate(zip(blocks, texts, strict=True)):
        goes_on = repeated >= 0 and repeated + 1 < at and texts[repeated + 1] == text
        if goes_on or (text in first and 1 < times[text] <= _MAX_COPIES):
            repeated = repeated + 1 if goes_on else first[text]
            continue
        repeated = -1
        if at == 0 or texts[at - 1] != text or block.kind not in ("heading", "paragraph"):
            kept.append(block)
        first.setdefault(text, at)
    return kept


# Characters: a shorter block may stand on a page twice by chance. A guess.
_MIN_REPEAT_CHARS = 50
# A block that is there more often is meant each time: a page has two or three layouts. A guess.
_MAX_COPIES = 3
# Characters: a longer link is read as text. A guess.
_MIN_LINK_CHARS = 25


def with_lost_lists(chosen: list[Block], own: list[Block], links: set[str]) -> list[Block]:
    """Return `chosen` with those headings, lists and tables that stand between two of its blocks on the page."""
    places = {" ".join(block.text.split()): place for place, block in enumerate(chosen)}
    found: dict[int, list[Block]] = {}
    run: list[Block] = []
    last: int | None = None
    for block in own:
        place = places.get(" ".join(block.text.split()))
        if place is None:
            run.append(block)
            continue
        if last is not None and place == last + 1:
            listed = [block for block in run if block.kind in ("item", "row")]
            others = [block for block in run if block.kind not in ("item", "row", "heading")]
            linked = [block for block in listed if block.text in links]
            is_heading = len(run) == 1 and run[0].kind == "heading"
            if is_heading or (len(listed) > 1 and not others and len(linked) * 2 < len(listed)):
                found[place] = run
        run, last = [], place
    return [block for place, each in enumerate(chosen) for block in (*found.get(place, ()), each)]


# A lead ends as a sentence does; the names of pictures and dates do not.
_SENTENCE_END = re.compile(r"[.!?…。！？][\"'”’“‘»«)\]]*$")


def _lost_lead(
    chosen: list[Block], own: list[Block], tree: HtmlElement, back: dict[str, str], links: set[str]
) -> int | None:
    """Return the place in `own` of an article's lead that `chosen` lacks; None where there is none.

    It is the first paragraph below the main heading, or of the region where no heading stands before the text.
    """
    taken = {" ".join(block.text.split()) for block in chosen}
    texts = [" ".join(block.text.split()) for block in own]
    first = next((at for at, text in enumerate(texts) if text in taken and own[at].kind != "heading"), 0)
    titles = {" ".join(replace_each(text_of(title), back).split()) for title in tree.iter("h1")}
    start = 1 + max((at for at in range(first) if own[at].kind == "heading" and texts[at] in titles), default=-1)
    captions: set[str] | None = None
    for at in range(start, first):
        is_long = latin_length(texts[at]) >= _MIN_PROSE_CHARS
        if texts[at] in taken or (own[at].kind == "heading" and not is_long):
            return None
        if own[at].kind not in ("paragraph", "heading") or not is_long or texts[at] in links:
            continue
        if _SENTENCE_END.search(texts[at]):
            captions = _captions(tree, back) if captions is None else captions
            if texts[at] not in captions:
                return at
    return None


def _captions(tree: HtmlElement, back: dict[str, str]) -> set[str]:
    """Return the texts that stand in captions of pictures."""
    found: set[str] = set()
    walk = etree.iterwalk(tree, events=("start",))
    for _, element in walk:
        if element.tag == "figcaption" or "caption" in (element.get("class") or "").lower():
            found.update(" ".join(block.text.split()) for block in read_blocks(element, translate=back))
            walk.skip_subtree()
    return found


def _with_lead(blocks: list[Block], own: list[Block], lead: int) -> list[Block]:
    """Return `blocks` with the block of `own` at the place `lead`, before all that follows it there."""
    later = {" ".join(block.text.split()) for block in own[lead:]}
    at = next((at for at, block in enumerate(blocks) if " ".join(block.text.split()) in later), 0)
    return [*blocks[:at], replace(own[lead], kind="paragraph"), *blocks[at:]]


def region_blocks(tree: HtmlElement) -> list[Block]:
    """Return all blocks of the page's main region, chosen by markup alone. Changes `tree`."""
    back = _replace_blanks(tree)
    return list(read_blocks(_main_region(tree), skip=BOILERPLATE_TAGS, translate=back))


def _main_region(tree: HtmlElement) -> HtmlElement:
    """Return the element that holds the main text by its markup: a single <main> or <article>, else the body.

    Neither counts where it is only a column of the page.
    """
    with_role = tree.iterfind(".//*[@role='main']")
    for marked in (tree.iter("main"), with_role, tree.iter("article")):
        if len(first := list(islice(marked, 2))) == 1:
            return _body(tree) if _is_column(first[0], _body(tree)) else first[0]
    return _body(tree)


def _is_column(region: HtmlElement, body: HtmlElement) -> bool:
    """True where the page's main heading and most of its prose stand beside a marked region."""
    if next(region.iter("h1"), None) is not None or next(body.iter("h1"), None) is None:
        return False
    least = max(_MIN_TEXT_CHARS, _SEVERAL * _count_prose(region, frozenset()))
    around = frozenset({region, *body.iter(*BOILERPLATE_TAGS)})
    if _count_prose(body, around) <= least:
        return False
    return _count_prose(body, around | find_boilerplate(body)) > least


def _count_prose(root: HtmlElement, left_out: frozenset[etree._Element]) -> int:
    """Return the characters of long paragraphs under `root`, without their links."""
    count = 0
    walk = etree.iterwalk(root, events=("start",))
    for _, element in walk:
        if element in left_out:
            walk.skip_subtree()
        elif element.tag == "p":
            linked = sum(latin_length(text_of(link)) for link in element.iter("a"))
            length = latin_length(text_of(element)) - linked
            count += length if length >= _MIN_PROSE_CHARS else 0
            walk.skip_subtree()
    return count


_count_elements = etree.XPath("count(//*)")


def _body(tree: HtmlElement) -> HtmlElement:
    body = tree.find("body")
    return tree if body is None else body


def _count_characters(blocks: list[Block]) -> int:
    return sum(latin_length(block.text) for block in blocks)


def _count_quotable(blocks: list[Block]) -> int:
    return sum(latin_length(block.text) for block in blocks if block.kind != "heading" and block.shown)


# Parts whose text trafilatura never chooses.
_NEVER_CHOSEN = ("head", "footer", "aside", "nav")


def _trafilatura_blocks(tree: HtmlElement, region: HtmlElement, back: dict[str, str], *, fast: bool) -> list[Block]:
    """Return what trafilatura chooses: of the main region where it is to be fast, else of the whole page."""
    from trafilatura import bare_extraction

    # It copies the tree, searches all of it several times, and only then drops most of this. Other extractors, which
    # it compares with where it is not to be fast, see the whole page.
    kept: dict[HtmlElement, list[HtmlElement]] = {}
    if fast and region.tag != "body":
        kept |= {inner.getparent(): [inner] for inner in (region, *region.iterancestors()) if inner is not tree}
    if fast:
        parts = (part for part in (region if kept else tree).iter(*_NEVER_CHOSEN) if len(part))
        kept |= {part: [child for child in part if child.tag == "script"] for part in parts}
    children = {part: part[:] for part in kept}
    try:
        for part, inner in kept.items():
            part[:] = inner
        document = bare_extraction(tree, include_comments=False, with_metadata=False, fast=fast)
    except Exception:  # a tree of a shape that it has not met: our own walk reads it
        _log.debug("trafilatura failed", exc_info=True)
        return []
    finally:
        for part, inner in children.items():
            part[:] = inner
    body = getattr(document, "body", None)
    return [] if body is None else list(read_blocks(body, translate=back))


# Characters: paywalls, bot checks and dates are looked for near a page's top. A guess.
MAX_SHOWN_CHARS = 20_000


def shown_text(tree: HtmlElement) -> str:
    """Return the visible text without menus and footers, a line a block, to about MAX_SHOWN_CHARS characters."""
    return _shown_text(_body(tree), set(), MAX_SHOWN_CHARS)


def _shown_text(root: HtmlElement, left_out: set[etree._Element], most: int) -> str:
    lines: list[str] = []
    length = 0
    for block in read_blocks(root, skip=frozenset({"nav", "footer", "head"}), left_out=left_out):
        lines.append(block.text)
        length += len(block.text)
        if length > most:
            break
    return "\n".join(lines)


def dated_texts(tree: HtmlElement, shown: str | None = None) -> tuple[str, str]:
    """Return the visible text whose dates may be the page's, and the places in it where a byline may stand.

    `shown` is all visible text, where that is at hand.

    A byline stands at the top of the main region, or below the main heading.
    """
    beside: set[etree._Element] = set()
    for part in tree.iter(etree.Element):
        tag = part.tag
        may_be = tag in ("header", "aside") or part.get("itemtype") is not None
        may_be = may_be or (tag in _NAMED_PARTS and (part.get("class") is not None or part.get("id") is not None))
        if may_be and is_beside_article(part):
            beside.add(part)
    if beside and declared_kind(tree) == "forum":
        beside = {part for part in beside if part.tag in ("header", "aside")}
    shown = _shown_text(_body(tree), beside, MAX_SHOWN_CHARS) if beside or shown is None else shown
    tops = [_first_lines(_shown_text(_main_region(tree), beside, _MAX_TOP_CHARS))]
    heading = next(tree.iter("h1"), None)
    title = "" if heading is None else " ".join("".join(heading.itertext()).split())
    if title and (at := shown.find(title)) >= 0:
        tops.append(_first_lines(shown[at + len(title) :]))
    # Many pages name the day of their last change in a footer.
    footers = "\n".join(" ".join("".join(footer.itertext()).split()) for footer in tree.iter("footer"))
    return f"{shown}\n{footers}", "\n".join(tops)


_NAMED_PARTS = frozenset({"div", "section", "ul", "ol", "article"})


# Characters below either in which a byline is looked for. A guess, the same as for plain text.
_MAX_TOP_CHARS = 400


def _first_lines(text: str) -> str:
    """Return the whole lines within the top: half of a sentence may look like a byline."""
    return text if len(text) <= _MAX_TOP_CHARS else text[:_MAX_TOP_CHARS].rpartition("\n")[0]


# trafilatura replaces every kind of blank by a plain one, so the page's blanks pass through it as Braille patterns.
# So do the blanks and line ends of code.

_OTHER_BLANKS = "\u00a0\u202f\u2009\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u200a\u205f\u3000\u1680"
_STAND_INS = [chr(code) for code in range(0x2801, 0x2900)]


def _replace_blanks(tree: HtmlElement) -> dict[str, str]:
    """Replace each kind of blank by a character that the page doesn't use; returns the table that undoes it."""
    whole = text_of(tree)
    blanks = [blank for blank in _OTHER_BLANKS if blank in whole]
    free = (mark for mark in _STAND_INS if mark not in whole)
    forth = dict(zip(blanks, free, strict=False))
    if forth:
        for element in tree.iter(etree.Element):
            if (text := element.text) and not text.isascii() and (changed := replace_each(text, forth)) != text:
                element.text = changed
            if (tail := element.tail) and not tail.isascii() and (changed := replace_each(tail, forth)) != tail:
                element.tail = changed
    back = {mark: blank for blank, mark in forth.items()}
    line_end, blank = next(free, ""), next(free, "")
    if blank:
        table = str.maketrans({"\n": line_end, " ": blank, "\t": 4 * blank})
        for listing in filter(is_code, tree.iter("pre")):
            for element in listing.iter(etree.Element):
                if element.tag == "br":
                    element.tag, element.text = "span", line_end
                if element.text:
                    element.text = element.text.translate(table)
                if element.tail and element is not listing:
                    element.tail = element.tail.translate(table)
            # A single line is code as well.
            listing.text = (listing.text or "") + ("" if len(listing) else line_end)
            back |= {line_end: CODE_LINE_END, blank: " "}
    return back
