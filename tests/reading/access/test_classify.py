"""A wall is never evidence, and an article about walls is an ordinary page."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.reading.access import KINDS, OWN_PAGES, Verdict, collection_pages, errors, figure, judge, own_pages
from marchwarden.observations import Failure, FailureKind, Page
from marchwarden.reading.access import page_features
from marchwarden.reading.page import read_page
from tests.reading.pages import ARTICLE, html, pdf
from tests.shared_data import SHARED_DATA

URL = "https://example.org/news/crops"
CLOSED = '<script type="application/ld+json">{"@type": "NewsArticle", "isAccessibleForFree": %s}</script>'
TEASER = "<main><h1>Crops</h1><p>Growers of the valley were surprised this spring.</p>%s</main>"
LONG = ARTICLE * 5
WRITE_TO_US = (
    "Follow the Valley Post and send us a message at 1-876-499-0169, or tell us at once what you have seen in your own "
    "part of the valley by writing to the desk at news@valley-post.example"
)


def kind(body: bytes, url: str = URL, status: int = 200, asked: str = "") -> FailureKind | None:
    found = read_page(body, url=url, content_type="text/html; charset=utf-8", status=status, asked=asked)
    return found.kind if isinstance(found, Failure) else None


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (400, FailureKind.BAD_REQUEST),
        (401, FailureKind.FORBIDDEN),
        (402, FailureKind.PAYWALL),
        (403, FailureKind.FORBIDDEN),
        (404, FailureKind.NOT_FOUND),
        (405, FailureKind.BAD_REQUEST),
        (407, FailureKind.FORBIDDEN),
        (408, FailureKind.TIMEOUT),
        (410, FailureKind.NOT_FOUND),
        (429, FailureKind.RATE_LIMITED),
        (451, FailureKind.FORBIDDEN),
        (500, FailureKind.SERVER_ERROR),
        (503, FailureKind.SERVER_ERROR),
        (599, FailureKind.SERVER_ERROR),
        (304, FailureKind.SERVER_ERROR),
    ],
)
def test_a_status_other_than_success_is_a_failure_whatever_the_page_says(status: int, expected: FailureKind) -> None:
    found = read_page(html(LONG), url=URL, content_type="text/html", status=status)
    assert isinstance(found, Failure)
    assert found.kind is expected
    assert str(status) in found.detail


@pytest.mark.parametrize(
    "body",
    [
        html(TEASER % "", CLOSED % "false"),
        html(TEASER % "", CLOSED % '"False"'),
        html(TEASER % "", CLOSED % '"http://schema.org/False"'),
        html(TEASER % "<p>Subscribe to continue reading</p>"),
        html(TEASER % "<p>This article is for subscribers. Already a subscriber? Sign in.</p>"),
        html(TEASER % "<p>You’ve reached your limit of free articles.</p>"),
        html(TEASER % "<p>Purchase access to this article for 24 hours.</p>"),
        html(TEASER % "<p>Bereits Abonnent? Hier anmelden</p>"),
    ],
)
def test_a_teaser_is_a_paywall(body: bytes) -> None:
    assert kind(body) is FailureKind.PAYWALL


@pytest.mark.parametrize(
    "body",
    [
        html(f"<main>{LONG}</main>", CLOSED % "false"),
        html(f"<main>{LONG}<p>Subscribe to continue reading our paper every day.</p></main>"),
        html(TEASER % "<p>Sites then show “Subscribe to continue reading” or count the articles that you read.</p>"),
        html(TEASER % "", CLOSED % "true"),
        html(f"<main>{ARTICLE}<p>{WRITE_TO_US}</p></main><p>Subscribe now</p>"),
    ],
)
def test_a_full_text_that_declares_a_paywall_and_an_article_about_them_are_read(body: bytes) -> None:
    assert kind(body) is None


PART = (
    '<script type="application/ld+json">{"@type": "NewsArticle", "isAccessibleForFree": false, "hasPart": {"@type": '
    '"WebPageElement", "isAccessibleForFree": false, "cssSelector": ".rest"}}</script>'
)
STOP = "<p>The rest of this story is for members.</p>"


@pytest.mark.parametrize(
    "body",
    [
        html(f"<main>{LONG}{STOP}</main>", PART),
        html(f"<main>{LONG}<div class='rest'></div>{STOP}</main>", PART),
        html(f"<main>{LONG}<div class='rest' style='display:none'>{ARTICLE}</div>{STOP}</main>", PART),
        html(f"<main>{ARTICLE}<div class='rest'></div></main>", PART),
    ],
)
def test_a_declared_part_that_is_missing_empty_or_hidden_is_behind_a_paywall(body: bytes) -> None:
    assert kind(body) is FailureKind.PAYWALL


@pytest.mark.parametrize(
    "body",
    [
        html(f"<main><div class='rest'>{ARTICLE}</div></main>", PART),
        html(f"<main><div class='rest'>{LONG}</div>{STOP}</main>", PART),
        html(f"<main>{LONG * 3}</main>", PART),
    ],
)
def test_a_declared_part_that_can_be_read_is_read(body: bytes) -> None:
    assert kind(body) is None


@pytest.mark.parametrize("selector", ["", "p > a:first-child", "???", "[", ".", 7, None])
def test_selectors_that_no_one_understands_do_no_harm(selector: object) -> None:
    part = {"isAccessibleForFree": False, "cssSelector": selector}
    declared = json.dumps({"@type": "NewsArticle", "isAccessibleForFree": False, "hasPart": part})
    body = html(f"<main>{LONG}</main>", f'<script type="application/ld+json">{declared}</script>')
    assert kind(body) is None


def test_a_microdata_declaration_counts_like_one_in_json() -> None:
    assert kind(html(TEASER % '<meta itemprop="isAccessibleForFree" content="false">')) is FailureKind.PAYWALL


PASSWORD = "<form action='/login'><input name='user'><input type='password' name='word'><button>Go</button></form>"


@pytest.mark.parametrize(
    ("body", "url"),
    [
        (html(f"<h1>Welcome</h1><p>Enter your password.</p>{PASSWORD}"), URL),
        (
            html(f"<main><p>Members of the society find the full record of each trial here.</p>{PASSWORD}</main>"),
            f"{URL}/login?next=/a",
        ),
        (html(f"<p>Please sign in to read this thread.</p>{PASSWORD}"), URL),
        (
            html("<p>Continue with your university account.</p>", "<title>Sign in</title>"),
            "https://login.example.org/sso",
        ),
    ],
)
def test_a_sign_in_page_is_a_login_wall(body: bytes, url: str) -> None:
    assert kind(body, url) is FailureKind.LOGIN_REQUIRED


def test_a_redirect_to_where_one_is_sent_back_from_is_a_login_wall() -> None:
    choice = html("<h1>Choose your university</h1><p>Sign in through your institution.</p>")
    back = "https://doors.example.net/ds?return=https%3A%2F%2Fexample.org%2Fsso"
    assert kind(choice, back, asked=URL) is FailureKind.LOGIN_REQUIRED
    assert kind(html(f"<main>{LONG}</main>"), f"{URL}-2?from=%2Fnews%2Fcrops", asked=URL) is None


@pytest.mark.parametrize("hidden", ["style='display:none'", "hidden", "aria-hidden='true'"])
def test_a_sign_in_form_that_is_not_seen_is_none(hidden: str) -> None:
    drawer = f"<div {hidden}>{PASSWORD}</div>"
    assert kind(html(f"<p>Log in</p>{drawer}<h1>Rye flour</h1><p>Five kilos, stone-ground.</p>")) is None


@pytest.mark.parametrize(
    "sentence",
    [
        "You must be logged in to reply.",
        "Please log in to see trade prices.",
        "Log in to save this recipe.",
        "Anmelden, um zu kommentieren.",
    ],
)
def test_an_account_that_is_wanted_for_something_else_than_reading_closes_nothing(sentence: str) -> None:
    assert kind(html(f"<main><h1>Rye</h1><p>Keep the starter warm.</p><p>{sentence}</p></main>")) is None


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (html("<h1>Not available in your region</h1><p>Rights.</p>"), FailureKind.FORBIDDEN),
        (html("<h1>Quarry Gin</h1><p>You must be 18 or over to enter this site.</p>"), FailureKind.FORBIDDEN),
        (html(f"<main>{LONG}<p>Films are often not available in your region.</p></main>"), None),
    ],
)
def test_a_page_for_other_countries_or_for_adults_is_forbidden(body: bytes, expected: FailureKind | None) -> None:
    assert kind(body) is expected


# Consent


CONSENT = (
    "<h1>Read on with cookies</h1><p>Accept cookies to continue, or pay £2 a month to read without advertising.</p>"
)


def test_a_page_that_shows_nothing_without_consent_is_a_cookie_wall_and_means_access_denied() -> None:
    assert kind(html(CONSENT)) is FailureKind.COOKIE_WALL
    assert FailureKind.COOKIE_WALL.closed


def test_a_redirect_to_a_consent_page_is_a_cookie_wall() -> None:
    body = html("<p>We and our 200 partners use cookies.</p>", "<title>Welcome</title>")
    assert kind(body, "https://consent.example.org/v2?to=%2Fnews%2Fcrops", asked=URL) is FailureKind.COOKIE_WALL


def test_a_banner_over_a_page_that_can_be_read_is_no_wall() -> None:
    assert kind(html(f"<div>{CONSENT}</div><main>{ARTICLE}</main>")) is None


# The labelled pages


@pytest.fixture(scope="module")
def own_verdicts() -> list[Verdict]:
    """Of every other page: `python evals/reading/access.py` tells of all."""
    return judge(own_pages()[::2])


@pytest.mark.parametrize("kind", ["paywall or login", "bot", "cookie"])
def test_own_labelled_pages_are_told_apart(own_verdicts: list[Verdict], kind: str) -> None:
    score = figure(own_verdicts, KINDS[kind])
    assert (score.precision or 0) >= 0.95
    assert (score.recall or 0) >= 0.85


def test_the_labels_are_of_pages_that_are_there() -> None:
    pages = own_pages()
    assert len({page.name for page in pages}) == len(pages) == len(list((OWN_PAGES / "pages").glob("*.html")))
    assert all(page.file.is_file() and page.reason for page in pages)


@pytest.mark.skipif(not SHARED_DATA.is_dir(), reason=f"the public sets of pages are not at {SHARED_DATA}")
def test_walls_of_public_sets_are_found_and_shops_with_a_log_in_are_none() -> None:
    pages = {page.name[:8]: page for page in collection_pages(SHARED_DATA)}
    chosen = [pages[name] for name in ("042bb7b5", "7ab16ade", "0551", "0583", "c467d507", "f8ff621a")]
    assert errors(judge(chosen)) == []


def test_a_page_with_a_sign_in_form_at_its_side_is_read() -> None:
    assert kind(html(f"<aside>Sign in {PASSWORD}</aside><main>{LONG}</main>")) is None
    assert kind(html(f"<main>{ARTICLE}</main>"), "https://example.org/blog/log-in-your-garden") is None


BOT_CHECK = html(
    "<h1>example.org</h1><p>Checking your browser before accessing example.org.</p>",
    "<title>Just a moment...</title>",
)


@pytest.mark.parametrize("status", [200, 403, 429, 503])
def test_a_bot_check_is_one_whatever_its_status(status: int) -> None:
    assert kind(BOT_CHECK, status=status) is FailureKind.BOT_WALL


@pytest.mark.parametrize(
    "body",
    [
        html("<p>Enable JavaScript and cookies to continue</p>"),
        html("<p>Verify you are human by completing the action below.</p><div class='cf-turnstile'></div>"),
        html("<p>Please press and hold.</p><div id='px-captcha'></div>", "<title>Access denied</title>"),
        html("<p>Reference 18.2f</p>", "<title>Attention Required! | Cloudflare</title>"),
    ],
)
def test_bot_checks_are_known_by_their_words_and_marks(body: bytes) -> None:
    assert kind(body) is FailureKind.BOT_WALL


@pytest.mark.parametrize(
    "body",
    [
        html(
            "<h1>404</h1><p>The page you requested could not be found.</p>", "<title>Page not found | Example</title>"
        ),
        html("<h1>Oops!</h1><p>We couldn’t find that page. Try our search.</p>", "<title>Example</title>"),
        html("<p>Sorry, the page you are looking for no longer exists.</p>", "<title>The Valley Post</title>"),
        html("<p>Try the home page.</p>", "<title>404 Not Found</title>"),
        html("<h1>Seite nicht gefunden</h1><p>Zur Startseite.</p>"),
    ],
)
def test_a_not_found_page_with_status_200_is_not_found(body: bytes) -> None:
    assert kind(body) is FailureKind.NOT_FOUND


@pytest.mark.parametrize(
    ("title", "sentence"),
    [
        ("How paywalls work", "Most papers ask you to subscribe to continue reading after five articles."),
        ("Just a moment: what a bot check does", "The page says that it is checking your browser, and waits."),
        ("Page not found: the story of an error", "“The page you requested could not be found” is what 404 means."),
        ("404", "The house at number 404 could not be found on any map of the valley before 1911."),
        (
            "Please sign in: a history of passwords",
            "You must log in to a terminal with a password, they said in 1961.",
        ),
    ],
)
def test_an_article_about_walls_is_an_ordinary_page(title: str, sentence: str) -> None:
    body = html(f"<main><h1>{title}</h1><p>{sentence}</p>{LONG}</main>", f"<title>{title}</title>")
    found = read_page(body, url=URL, content_type="text/html")
    assert isinstance(found, Page)
    assert any(sentence[:40] in passage.text for passage in found.passages)


def test_only_html_is_looked_at_for_a_bot_check() -> None:
    found = read_page(pdf(["Just a moment..."]), url=URL, content_type="application/pdf", status=403)
    assert isinstance(found, Failure)
    assert found.kind is FailureKind.FORBIDDEN
    assert kind(b"<!-- -->", status=403) is FailureKind.FORBIDDEN


# Walls that are none, and walls after a long teaser

PROSE = ARTICLE  # about 400 characters


@pytest.mark.parametrize(
    "body",
    [
        html(
            f"<header><div><p>Log in</p><p>Forgot password?</p><input type='password'></div></header><main>{PROSE}</main>"
        ),
        html(f"<div class='topbar'><div>Forgot password? <input type='password'></div></div><main>{PROSE}</main>"),
        html(f"<div><p>Please sign in</p><input type='password'></div><main><h1>Crops</h1>{PROSE}</main>"),
    ],
)
def test_a_form_beside_a_short_article_is_no_wall(body: bytes) -> None:
    assert kind(body) is None


def test_a_sentence_of_the_article_that_sounds_like_an_offer_is_no_wall() -> None:
    sentence = (
        "<p>Only members of the support group may read the annual reports, and they pay forty crowns per year for the "
        "seed of the garden by the mill.</p>"
    )
    assert kind(html(f"<main><h1>Crops</h1>{sentence}{PROSE}</main>")) is None


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Il vous reste 57 % de cet article à lire.", FailureKind.PAYWALL),
        ("The rest of this article is for subscribers.", FailureKind.PAYWALL),
        ("El resto de este artículo es solo para suscriptores.", FailureKind.PAYWALL),
        ("बाकी लेख केवल सदस्यों के लिए है।", FailureKind.PAYWALL),
        ("Créez votre compte pour lire la suite", FailureKind.LOGIN_REQUIRED),
        ("Create a free account to continue reading", FailureKind.LOGIN_REQUIRED),
        ("Regístrate gratis para seguir leyendo", FailureKind.LOGIN_REQUIRED),
        ("To keep reading, create a free account.", FailureKind.LOGIN_REQUIRED),
        ("Créez un compte gratuit pour lire la suite de cet article.", FailureKind.LOGIN_REQUIRED),
        ("Dalszy ciąg artykułu tylko dla prenumeratorów.", FailureKind.PAYWALL),
        ("O restante desta matéria é exclusivo para assinantes.", FailureKind.PAYWALL),
        ("पूरा लेख पढ़ने के लिए सब्सक्राइब करें।", FailureKind.PAYWALL),
    ],
)
def test_an_explicit_last_line_closes_a_long_teaser_as_well(line: str, expected: FailureKind) -> None:
    assert kind(html(f"<main><h1>Crops</h1>{PROSE * 4}<p>{line}</p></main>")) is expected
    inside = f"<main><h1>Crops</h1><p>{line}</p>{PROSE * 20}</main>"
    assert kind(html(inside)) is None, "the whole article is there"


def test_a_paywall_in_hindi_is_told() -> None:
    call = "<p>यह पूरा लेख पढ़ने के लिए सदस्यता लें</p>"
    assert kind(html(f"<main><h1>फसल</h1><p>घाटी के किसान इस वसंत में चकित थे।</p>{call}</main>")) is FailureKind.PAYWALL


def test_the_offer_itself_may_be_named_as_the_part_that_costs() -> None:
    gate = (
        "<div class='rest paywall'><p>Get unlimited digital access to all that our reporters find out in the valley and "
        "beyond it, on every day of the year.</p><p>Choose a plan</p></div>"
    )
    assert kind(html(f"<main><h1>Crops</h1>{PROSE}{gate}</main>", PART)) is FailureKind.PAYWALL


def test_a_text_without_blanks_is_as_long_as_what_it_says() -> None:
    text = "水車小屋の裏にある古い果樹園は今も実をつける。毎年秋になると近所の人たちが集まる。" * 20
    assert kind(html(f"<main><h1>果樹園</h1><p>{text}</p><p>続きを読むには会員登録が必要です。</p></main>")) is None


@given(st.from_regex(page_features._GATE))
def test_whatever_a_name_of_a_gate_is_it_is_found_by_the_quick_look_before_it(name: str) -> None:
    assert any(part in name.casefold() for part in page_features._IN_GATES)
