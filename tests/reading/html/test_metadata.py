"""What a page says about itself."""

from __future__ import annotations

from datetime import date

import pytest

from marchwarden.observations import Page
from marchwarden.reading.html.dates import as_date, in_address, shown_dates
from marchwarden.reading.html.retraction import standing_by_status, standing_of
from marchwarden.reading.page import read_page
from tests.reading.pages import ARTICLE, article, html

URL = "https://example.org/garden/crops"


def read(body: bytes, url: str = URL) -> Page:
    page = read_page(body, url=url, content_type="text/html; charset=utf-8")
    assert isinstance(page, Page), page
    return page


JSON_LD = """<script type="application/ld+json">{"@context": "https://schema.org", "@graph": [
  {"@type": "Organization", "name": "Not this"},
  {"@type": ["NewsArticle"], "headline": "Crops &amp; frost", "datePublished": "2024-03-12T08:00:00Z",
   "dateModified": "2026-02-20", "author": [{"name": "Marit Halvorsen"}, {"name": "Per Lind"}],
   "publisher": {"name": "The Valley Post"}},
  {"@type": "WebPage", "name": "Page"}]}</script>"""


def test_structured_data_is_believed_first() -> None:
    head = (
        f"<title>Crops | Something</title><meta property='og:title' content='Other'><meta name='author' content='Else'>"
        f"<link rel='canonical' href='/garden/crops?utm_source=feed'>{JSON_LD}"
    )
    page = read(article(head=head))
    assert page.title == "Crops & frost"
    assert page.authors == ("Marit Halvorsen", "Per Lind")
    assert (page.published, page.modified) == (date(2024, 3, 12), date(2026, 2, 20))
    assert page.dated == date(2026, 2, 20)
    assert page.language == "en"
    assert page.canonical_url == URL


def test_meta_tags_come_next() -> None:
    head = (
        "<title>x</title><meta name='citation_title' content='Salt in soils'><meta name='citation_author' content='A. Bee'>"
        "<meta name='citation_author' content='C. Dee'><meta name='citation_publication_date' content='2019/02/14'>"
        "<meta property='og:site_name' content='Soil Letters'><meta property='article:modified_time' content='2020-01-02T00:00'>"
        "<meta property='og:url' content='https://soil.example/1'><script type='application/ld+json'>{broken</script>"
    )
    page = read(article(head=head))
    assert (page.title, page.authors) == ("Salt in soils", ("A. Bee", "C. Dee"))
    assert (page.published, page.modified) == (date(2019, 2, 14), date(2020, 1, 2))
    assert page.canonical_url == "https://soil.example/1"


@pytest.mark.parametrize(
    ("head", "heading", "title"),
    [
        ("<title>Garden crops | The Valley Post</title>", "Garden crops", "Garden crops"),
        ("<title>Garden crops - The Valley Post</title>", "", "Garden crops - The Valley Post"),
        ("<title>The Post: all about a - b</title>", "Else", "The Post: all about a - b"),
        ("", "Garden crops", "Garden crops"),
        ("<title>Crops – Post</title><meta property='og:site_name' content='Post'>", "", "Crops"),
        ("<title> </title>", "", None),
        ("<meta property='og:title' content='Crops • Beds - Post | Valley'>", "Crops • Beds ¶", "Crops • Beds"),
        ("<title>Valley Post | Garden crops</title>", "Garden Crops", "Garden crops"),
        ("<meta property='og:title' content='Soil — The Example'>", "Of soil", "Soil"),
        ("<title>Example | The garden network</title>", "Welcome", "Example | The garden network"),
    ],
)
def test_a_title_comes_without_the_name_of_the_site(head: str, heading: str, title: str | None) -> None:
    top = f"<h1>{heading}</h1>" if heading else ""
    assert read(html(f"<main>{top}{ARTICLE}</main>", head)).title == title


@pytest.mark.parametrize(
    ("body", "published", "modified"),
    [
        ("<p>By Marit, <time datetime='2021-05-03'>3 May</time></p>" + ARTICLE, date(2021, 5, 3), None),
        (
            "<p>Published on Monday, 3 May 2021 · Last reviewed: March 2023</p>" + ARTICLE,
            date(2021, 5, 3),
            date(2023, 3, 1),
        ),
        ("<p class='by'>November 8, 2020</p>" + ARTICLE, date(2020, 11, 8), None),
        (ARTICLE + "<footer>Last updated: April 9, 1999</footer>", None, date(1999, 4, 9)),
        (
            "<p>On May 5, 2020 it rained in the valley for two days on end, and the river rose by a foot or more.</p>"
            + ARTICLE,
            None,
            None,
        ),
    ],
)
def test_days_are_read_off_what_a_reader_sees(body: str, published: date | None, modified: date | None) -> None:
    page = read(html(f"<main>{body}</main>"))
    assert (page.published, page.modified) == (published, modified)


OLD = "<time datetime='2012-05-03'>3 May 2012</time>"


@pytest.mark.parametrize(
    "body",
    [
        f"<header><a href='/'>The Valley Post</a> {OLD}</header><main><h1>Crops</h1>{ARTICLE}</main>",
        f"<div class='topbar'><span>Thursday, 3 May 2012</span></div><h1>Crops</h1>{ARTICLE}",
        f"<header><p>Thursday, 3 May 2012</p></header><main><h1>Crops</h1>{ARTICLE}</main>",
        f"<main><h1>Crops</h1><p>The next concert is on {OLD} in the old hall of the town, with horns.</p>{ARTICLE}</main>",
        f"<main><h1>Crops</h1><article>{ARTICLE}</article><section id='comments'><article>{OLD}</article></section></main>",
        f"<main><h1>Crops</h1>{ARTICLE}<div class='comment'><p>Posted 3 May 2012</p><p>Nice.</p></div></main>",
        f"<main><h1>Crops</h1><aside>{OLD}</aside>{ARTICLE}</main>",
        f"<main><h1>Crops</h1><p itemscope itemtype='https://schema.org/Event'>{OLD}</p>{ARTICLE}</main>",
        "<main><h1>Crops</h1><div itemscope itemtype='https://schema.org/Comment'>"
        f"<meta itemprop='datePublished' content='2012-05-03'></div>{ARTICLE}</main>",
    ],
)
def test_a_day_that_is_not_the_pages_own_is_none_of_publication(body: str) -> None:
    page = read(html(body))
    assert (page.published, page.modified) == (None, None)
    dated = read(html(body, "<title>x</title><meta property='article:published_time' content='2026-02-03'>"))
    assert dated.published == date(2026, 2, 3)


@pytest.mark.parametrize(
    "body",
    [
        f"<article><header><h1>Crops</h1><p>By Marit | {OLD}</p></header>{ARTICLE}</article>",
        f"<main><h1>Crops</h1><div class='meta'><a href='/m'>Marit</a><span>{OLD}</span></div>{ARTICLE}</main>",
        f"<h1>Crops</h1><div><span>3 May 2012</span></div><article>{ARTICLE}</article>",
    ],
)
def test_a_day_in_the_byline_is_the_pages(body: str) -> None:
    assert read(html(body)).published == date(2012, 5, 3)


def test_articles_that_a_page_lists_do_not_date_it() -> None:
    def article_at(path: str, day: str) -> str:
        url = f"https://example.org{path}"
        return f'{{"@type": "Article", "headline": "{path}", "url": "{url}", "datePublished": "{day}"}}'

    listed = ", ".join([article_at("/a", "2012-05-03"), article_at("/garden/crops", "2026-02-03")])
    head = f'<title>x</title><script type="application/ld+json">[{listed}]</script>'
    assert read(article(head=head)).published == date(2026, 2, 3)
    assert read(article(head=head), "https://example.org/").published is None


def test_a_missing_time_stamp_is_no_day() -> None:
    head = (
        "<meta property='article:published_time' content='1970-01-01T00:00Z'><meta name='date' content='2018-05-06'>"
    )
    assert read(article(head=head)).published == date(2018, 5, 6)


def test_the_address_may_tell_the_day() -> None:
    assert read(article(), "https://example.org/2022/01/23/crops").published == date(2022, 1, 23)
    assert in_address("https://example.org/2022/31/99/crops") is None


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2021-05-03T10:00:00+02:00", date(2021, 5, 3)),
        ("20210503", date(2021, 5, 3)),
        ("2021/05/03", date(2021, 5, 3)),
        ("May 3, 2021", date(2021, 5, 3)),
        ("Sept. 4th, 2020", date(2020, 9, 4)),
        ("3 May 2021", date(2021, 5, 3)),
        ("3. März 2021", date(2021, 3, 3)),
        ("1er août 2019", date(2019, 8, 1)),
        ("3 de mayo de 2020", date(2020, 5, 3)),
        ("11 ноября 2001", date(2001, 11, 11)),
        ("2003年5月12日", date(2003, 5, 12)),
        ("03.05.2021", date(2021, 5, 3)),
        ("12/25/2020", date(2020, 12, 25)),
        ("25/12/2020", date(2020, 12, 25)),
        ("2021-05", date(2021, 5, 1)),
        ("31 February 2020", None),
        ("3 Foo 2020", None),
        ("2021", None),
        ("soon", None),
    ],
)
def test_days_are_known_as_pages_write_them(text: str, day: date | None) -> None:
    assert as_date(text) == day


def test_a_day_of_change_is_not_one_of_publication() -> None:
    assert shown_dates("Updated March 3, 2020\nText") == (None, date(2020, 3, 3))
    assert shown_dates("Aktualisiert am 3. März 2020") == (None, date(2020, 3, 3))


@pytest.mark.parametrize(
    ("title", "top", "standing"),
    [
        ("RETRACTED: Vitamin D halves fractures", "", "retracted"),
        ("[Retracted] Vitamin D", "", "retracted"),
        ("Vitamin D", "This article has been retracted by the editors.", "retracted"),
        ("Vitamin D", "Retraction notice: this paper was retracted in 2015.", "retracted"),
        ("Vitamin D", "RETRACTED\nVitamin D halves fractures.", "retracted"),
        ("Zones (superseded)", "", "superseded"),
        ("ARCHIVED: Zones", "", "superseded"),
        ("Zones", "Note: This fact sheet is no longer maintained. See the new one.", "superseded"),
        ("Zones", "This 2021 summary page has been replaced by the act in force.", "superseded"),
        ("Zones", "You are viewing an archived version of this page.", "superseded"),
        ("Zones", "Superseded by RFC 9309.", "superseded"),
        (
            "Retractions in medicine",
            "The paper of 1998 was retracted. It said that this study was retracted in 2010.",
            None,
        ),
        ("How journals mark papers", "They print “This article has been retracted” on each page.", None),
        ("Old zones", "The map of 1990 was superseded by the map of 2012.", None),
        (None, "x" * 800 + "\nThis article has been retracted.", None),
    ],
)
def test_only_a_page_that_says_so_of_itself_no_longer_stands(
    title: str | None, top: str, standing: str | None
) -> None:
    assert standing_of(title, top) == standing


def test_a_banner_above_the_article_tells_its_standing() -> None:
    body = (
        f"<div class='alert'>This page has been superseded by the 2023 map.</div><main><h1>Zones</h1>{ARTICLE}</main>"
    )
    assert read(html(body)).standing == "superseded"


@pytest.mark.parametrize(
    ("head", "standing"),
    [
        (
            '<script type="application/ld+json">{"@type": "Article", "creativeWorkStatus": "Retracted"}</script>',
            "retracted",
        ),
        (
            '<script type="application/ld+json">{"@type": "Article", "creativeWorkStatus": "Obsolete"}</script>',
            "superseded",
        ),
        ("<meta name='citation_retraction' content='x'>", "retracted"),
        ("<meta name='dcterms.isReplacedBy' content='https://example.org/new'>", "superseded"),
        ("<meta name='robots' content='noindex'>", None),
    ],
)
def test_markup_may_tell_the_standing(head: str, standing: str | None) -> None:
    assert read(article(head=f"<title>Zones</title>{head}")).standing == standing
    assert standing_by_status("Published") is None


@pytest.mark.parametrize(
    "line",
    [
        "The Halden Bridge opened on 12 June 1931.",
        "On 9 May 1988 the theatre opened its doors to the public of Ostvik for the first time",
    ],
)
def test_a_sentence_that_tells_of_a_day_is_no_byline(line: str) -> None:
    assert shown_dates(f"{line}\nMore text.")[0] is None


@pytest.mark.parametrize(
    "line", ["12 June 1931", "By Ann Lee · 12 June 1931", "Halden, 12 June 1931 | 5 minutes to read"]
)
def test_a_line_with_little_beside_a_day_near_the_top_is_a_byline(line: str) -> None:
    assert shown_dates(f"Title\n{line}\nMore text.")[0] == date(1931, 6, 12)


@pytest.mark.parametrize(
    ("markup", "author"),
    [
        ("<p>By <a rel='author' href='/u'>Ann Bee</a></p>", "Ann Bee"),
        ("<p itemprop='author' itemscope>From <span itemprop='name'>Ann Bee</span></p>", "Ann Bee"),
        ("<div class='entry-author__name'>Written by Ann Bee | Updated 3 May 2021</div>", "Ann Bee"),
        ("<p class='byline'>By<br> Ann Bee on 3 May</p>", "Ann Bee"),
        ("<p class='author'>By</p><p class='author'>bee_77</p>", "bee_77"),
        ("<div class='comments'><b class='comment-author author'>Cy Dee</b></div>", None),
        ("<p class='byline'>Von Ann Bee</p>", "Ann Bee"),
        ("<p class='byline'>Ein Beitrag von Ann Bee</p>", "Ann Bee"),
        ("<p class='byline'>Publié par Ann Bee</p>", "Ann Bee"),
        ("<p class='byline'>By John von Neumann</p>", "John von Neumann"),
        ("<p class='byline'>Ursula von der Leyen</p>", "Ursula von der Leyen"),
        ("<form><label class='username'>Name</label></form>", None),
        ("<p class='author'>This long line, which is of the author, is no name but tells of one.</p>", None),
    ],
)
def test_an_author_is_read_off_the_name_that_a_reader_sees(markup: str, author: str | None) -> None:
    head = "<meta property='og:type' content='article'>"
    assert read(html(f"<main>{markup}{ARTICLE}</main>", head)).authors == ((author,) if author else ())


def test_a_name_above_a_post_or_a_review_is_not_that_of_the_page() -> None:
    assert read(html(f"<main><p class='byline'>By Ann Bee</p>{ARTICLE}</main>")).authors == ()
