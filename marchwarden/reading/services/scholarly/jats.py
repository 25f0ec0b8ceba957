"""Full text in JATS, as Europe PMC and PubMed Central give it → a page with sections (https://jats.nlm.nih.gov).

The elements become those of HTML, so that text, tables, lists and formulas are read as they are on other pages.

Own code beside pubmed_parser: it joins paragraphs without sections and ids, and drops tables and lists.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date

from lxml import etree

from marchwarden.observations import Failure, FailureKind, Notice, NoticeKind, Page, Reference, Standing, Work
from marchwarden.reading.html.main_text import parse, region_blocks
from marchwarden.reading.html.notation.prepare import prepare
from marchwarden.reading.html.retraction import standing_of
from marchwarden.reading.passages import with_text
from marchwarden.reading.services.scholarly.work_records import day_of, no_answer
from marchwarden.reading.services.scholarly.xml_trees import parse_xml, text_of
from marchwarden.reading.works.references import marks_in, reference_of, with_references
from marchwarden.reading.works.sections import sections_of, with_places
from marchwarden.text.invisible import visible
from marchwarden.text.works import DOI_RESOLVER, identified

# Elements without text of the article itself.
_LEFT_OUT = (
    "ref-list", "back", "front", "object-id", "tex-math", "graphic", "media", "inline-graphic", "alternatives-label",
    "permissions", "kwd-group", "journal-meta", "related-article", "counts", "custom-meta-group",
)  # fmt: skip
_AS_HTML = {
    "sec": "section", "p": "p", "list": "ul", "list-item": "li", "def-list": "dl", "def": "dd", "term": "dt",
    "disp-quote": "blockquote", "boxed-text": "div", "table-wrap": "div", "fig": "div", "fig-group": "div",
    "caption": "div", "disp-formula": "p", "statement": "div", "app": "section", "app-group": "div",
    "italic": "i", "bold": "b", "sub": "sub", "sup": "sup", "break": "br", "preformat": "pre", "code": "code",
    "body": "div", "abstract": "section", "trans-abstract": "section", "verse-group": "blockquote",
    "table": "table", "thead": "thead", "tbody": "tbody", "tfoot": "tfoot", "tr": "tr", "th": "th", "td": "td",
    "math": "math", "mrow": "mrow", "mi": "mi", "mo": "mo", "mn": "mn", "msup": "msup", "msub": "msub",
    "mfrac": "mfrac", "msqrt": "msqrt", "msubsup": "msubsup", "mtext": "mtext", "mfenced": "mfenced",
    "table-wrap-foot": "div", "fn": "p", "supplementary-material": "div",
}  # fmt: skip
# A date of publication counts in this order.
_DATES = ("epub", "pub", "epub-ppub", "ppub", "collection", "pmc-release")
# Kinds of related articles that are news, with the words that tell of them.
_RELATED: dict[str, tuple[NoticeKind, str]] = {
    "correction-forward": ("corrected", "its full text names a notice of correction"),
    "concern-forward": ("concern", "its full text names an expression of concern"),
    "corrected-article": ("notice", "it is itself the notice of correction of another work"),
    "retracted-article": ("notice", "it is itself the notice of retraction of another work"),
    "object-of-concern": ("notice", "it is itself the expression of concern about another work"),
}
# Elements that hold one entry of the list of references.
_CITATIONS = ("element-citation", "mixed-citation", "citation", "nlm-citation")
_XLINK = "{http://www.w3.org/1999/xlink}href"


def read_jats(page: Page, body: bytes) -> Page | Failure:
    """Read an article: title, abstract, and the sections of its body."""
    root = parse_xml(body)
    article = None if root is None else root if root.tag == "article" else next(root.iter("article"), None)
    if article is None:
        return no_answer("the archive of full texts")
    meta = article.find("front/article-meta")
    if meta is None:
        return Failure(FailureKind.NO_TEXT, "the full text has no record of its article")
    work, published = _work(article, meta), _published(meta)
    dois = (text_of(each) for each in article.iter("pub-id") if each.get("pub-id-type") == "doi")
    links = tuple(f"{DOI_RESOLVER}{doi}" for doi in dois if doi.startswith("10."))
    related = {each.get("related-article-type") for each in meta.findall("related-article")}
    # A notice names the article that it retracts, and still stands.
    standing: Standing | None = "retracted" if related & {"retraction-forward", "retracted-by"} else None
    notices = tuple(Notice(kind, words) for name, (kind, words) in _RELATED.items() if name in related)
    title = visible(text_of(meta.find("title-group/article-title")))
    language = article.get("{http://www.w3.org/XML/1998/namespace}lang")
    entries = dict(_entries(article))
    marks = marks_in([*meta.findall("abstract"), *article.findall("body")], _cited, frozenset(_LEFT_OUT))
    tree = parse(_as_html(article, meta, title))
    if tree is None:
        return Failure(FailureKind.NO_TEXT, "the full text is empty")
    sections = sections_of(tree)
    prepare(tree)
    page = with_text(replace(page, language=language), with_places(region_blocks(tree), sections))
    if not page.passages:
        return Failure(FailureKind.NO_TEXT, "the full text holds no text")
    return replace(
        with_references(page, entries, marks),
        title=title or None,
        published=published,
        links=links,
        standing=standing or standing_of(title, page.text),
        notices=notices,
        source="europepmc",
        work=work,
    )


def _work(article: etree._Element, meta: etree._Element) -> Work:
    ids = {each.get("pub-id-type"): text_of(each) for each in meta.findall("article-id")}
    years = [year for each in meta.findall("pub-date") if (year := text_of(each.find("year"))).isdecimal()]
    return identified(
        Work(
            doi=ids.get("doi"),
            pmid=ids.get("pmid"),
            authors=tuple(filter(None, map(_name, meta.findall("contrib-group/contrib")))),
            year=int(min(years)) if years else None,
            venue=text_of(article.find("front/journal-meta//journal-title")) or None,
            is_peer_reviewed=article.get("article-type") != "preprint",
        )
    )


def _name(contributor: etree._Element) -> str:
    if contributor.get("contrib-type", "author") != "author":
        return ""
    name = contributor.find("name")
    if name is None:
        name = contributor.find("name-alternatives/name")
    if name is None:
        return text_of(contributor.find("collab"))
    return ", ".join(filter(None, (text_of(name.find("surname")), text_of(name.find("given-names")))))


def _published(meta: etree._Element) -> date | None:
    told = {each.get("pub-type") or each.get("date-type") or "pub": each for each in meta.findall("pub-date")}
    for kind in _DATES:
        if kind in told:
            each = told[kind]
            if day := day_of(text_of(each.find(part)) for part in ("year", "month", "day")):
                return day
    return None


def _entries(article: etree._Element) -> Iterator[tuple[str, Reference]]:
    """Yield the entries of the list of references, by their ids."""
    for each in article.iter("ref"):
        cited = next((found for name in _CITATIONS for found in each.iter(name)), None)
        if cited is None or not (name := each.get("id")):
            continue
        ids = {found.get("pub-id-type"): text_of(found) for found in cited.iter("pub-id")}
        links = [link.get(_XLINK) or "" for link in cited.iter("ext-link", "uri")]
        title = text_of(cited.find("article-title")) or text_of(cited.find("chapter-title"))
        words = " ".join(" ".join(map(str, cited.itertext())).split())
        yield name, reference_of(words, links, Work(doi=ids.get("doi"), pmid=ids.get("pmid")), title or None)


def _cited(element: etree._Element) -> tuple[str, ...]:
    is_mark = element.tag == "xref" and element.get("ref-type") == "bibr"
    return tuple((element.get("rid") or "").split()) if is_mark else ()


def _as_html(article: etree._Element, meta: etree._Element, title: str) -> str:
    """Return the title, the abstracts and the body as markup."""
    kept = etree.Element("main")
    etree.SubElement(kept, "h1").text = title
    parts = [*meta.findall("abstract"), *article.findall("body"), *article.findall("back/app-group")]
    for part in parts:
        if part.tag == "abstract" and part.find("title") is None:
            heading = etree.Element("title")
            heading.text = "Abstract"
            part.insert(0, heading)
        kept.append(part)
    etree.strip_elements(kept, *_LEFT_OUT, with_tail=False)
    for element in list(kept.iter(etree.Element)):
        name = etree.QName(element).localname
        if name == "xref" and element.get("ref-type") == "bibr":
            # A raised number of a reference would look like an exponent beside a word.
            above = element.getparent()
            if element.find("sup") is not None or (above is not None and above.tag == "sup"):
                element[:], element.text = [], None
            element.tag = "span"
        elif (
            name == "label" and (above := element.getparent()) is not None and above.tag in ("section", "sec", "app")
        ):
            element.tag = "span"
            # The number of a section stands before its title: `2 Methods`.
            if (after := element.getnext()) is not None and after.tag == "title":
                after.text = f"{text_of(element)} {after.text or ''}"
                above.remove(element)
        elif name == "title":
            element.tag = f"h{min(6, 2 + sum(1 for _ in element.iterancestors('section', 'sec')) - 1)}"
        elif name == "ext-link":
            element.tag = "a"
            element.set("href", element.get(_XLINK) or "")
        elif name not in ("main", "h1"):
            element.tag = _AS_HTML.get(name, "span")
    return f"<html><body>{etree.tostring(kept, encoding='unicode', method='html')}</body></html>"
