"""robots.txt, as RFC 9309 has it."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.http.robots import SECONDS_KEPT, AllowsHost, Robots, RobotsFile
from marchwarden.http.robots_rules import parse
from marchwarden.observations import Failure, FailureKind
from tests.profiles import a_moment
from tests.shared_data import SHARED_DATA

RULES = b"""
User-agent: *
Disallow: /private/
Disallow: /*.pdf$

User-agent: Marchwarden
User-agent: Other
Disallow: /drafts/
Allow: /drafts/public/
"""


class Origin:
    """Answers for robots.txt, and how often it was asked."""

    def __init__(self, *answers: RobotsFile | Failure) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    async def __call__(self, url: str, allows: AllowsHost) -> RobotsFile | Failure:
        self.asked.append(url)
        await asyncio.sleep(0)
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("/", True),
        ("/drafts/a", False),
        ("/drafts/public/a", True),
        ("/private/", True),  # its own group counts, not that for everyone
        ("/a.pdf", True),
    ],
)
async def test_the_group_of_our_name_counts_and_the_longest_rule_wins(path: str, allowed: bool) -> None:
    refusal = await Robots(Origin(RobotsFile(200, RULES))).refusal(f"https://example.org{path}")
    assert (refusal is None) is allowed
    if refusal is not None:
        assert refusal.kind is FailureKind.ROBOTS_DISALLOWED


@pytest.mark.anyio
async def test_without_a_group_of_our_own_the_one_for_everyone_counts() -> None:
    robots = Robots(Origin(RobotsFile(200, RULES.split(b"User-agent: Marchwarden")[0])))
    assert await robots.refusal("https://example.org/private/a") is not None
    assert await robots.refusal("https://example.org/a.pdf") is not None
    assert await robots.refusal("https://example.org/a.pdf?page=2") is None


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("answer", "allowed"),
    [
        (RobotsFile(404, b"User-agent: *\nDisallow: /"), True),
        (RobotsFile(403), True),
        (RobotsFile(500), False),
        (RobotsFile(503, b"User-agent: *\nAllow: /"), False),
        (RobotsFile(200, b""), True),
        (RobotsFile(200, b"<!doctype html><html><p>Welcome</html>"), True),
        (RobotsFile(200, b"\xef\xbb\xbfUser-agent: *\nDisallow: /"), False),
        (RobotsFile(200, b"User-agent: *\nDisallow: /\n" + b"#" * 600_000), False),
        (RobotsFile(200, b"#" * 600_000 + b"\nUser-agent: *\nDisallow: /\n"), True),
        (RobotsFile(200, b"\xff\xfe\x00junk"), True),
    ],
)
async def test_a_missing_file_allows_all_and_a_failing_server_nothing(answer: RobotsFile, allowed: bool) -> None:
    assert (await Robots(Origin(answer)).refusal("https://example.org/a") is None) is allowed


@pytest.mark.anyio
async def test_an_origin_is_asked_once_even_by_many_at_a_time() -> None:
    origin = Origin(RobotsFile(200, RULES))
    robots = Robots(origin)
    await asyncio.gather(*(robots.refusal(f"https://example.org/{n}") for n in range(10)))
    await robots.refusal("http://example.org:8080/a")
    assert origin.asked == ["https://example.org/robots.txt", "http://example.org:8080/robots.txt"]


@pytest.mark.anyio
async def test_an_origin_that_did_not_answer_is_asked_again() -> None:
    broken = Failure(FailureKind.NETWORK, "the connection to example.org broke")
    robots = Robots(Origin(broken, RobotsFile(404)))
    assert await robots.refusal("https://example.org/a") == broken
    assert await robots.refusal("https://example.org/a") is None


@pytest.mark.anyio
async def test_who_waits_for_an_answer_gets_it_though_the_first_to_ask_is_cancelled() -> None:
    asked = asyncio.Event()

    async def slow(url: str, allows: AllowsHost) -> RobotsFile:
        asked.set()
        await asyncio.sleep(0.05)
        return RobotsFile(404)

    robots = Robots(slow)
    first = asyncio.create_task(robots.refusal("https://example.org/a"))
    await asked.wait()
    second = asyncio.create_task(robots.refusal("https://example.org/b"))
    await asyncio.sleep(0)
    first.cancel()
    assert await second is None
    with pytest.raises(asyncio.CancelledError):
        await first


@pytest.mark.anyio
async def test_an_answer_counts_for_a_day() -> None:
    now = 1000.0
    origin = Origin(RobotsFile(200, b"User-agent: *\nDisallow: /"), RobotsFile(404))
    robots = Robots(origin, clock=lambda: now)
    assert await robots.refusal("https://example.org/a") is not None
    now += SECONDS_KEPT - 1
    assert await robots.refusal("https://example.org/a") is not None
    now += 2
    assert await robots.refusal("https://example.org/a") is None
    assert len(origin.asked) == 2


@pytest.mark.anyio
async def test_the_delay_that_an_origin_asks_for_is_known_once_it_was_asked() -> None:
    robots = Robots(Origin(RobotsFile(200, b"User-agent: *\nCrawl-delay: 2.5\nDisallow: /x")))
    assert robots.crawl_delay("https://example.org/a") == 0
    assert await robots.refusal("https://example.org/a") is None
    assert robots.crawl_delay("https://example.org/b") == 2.5
    assert robots.crawl_delay("http://example.org/b") == 0, "another origin"


# What the text says


@pytest.mark.parametrize(
    ("text", "path", "allowed"),
    [
        ("User-agent: *\nDisallow:\nUser-agent: marchwarden\nDisallow: /", "/a", False),
        ("User-agent: marchwarden\nDisallow:\nUser-agent: *\nDisallow: /", "/a", True),
        ("User-agent: marchwarden\nUser-agent: x\nDisallow: /a\nUser-agent: MARCHWARDEN\nDisallow: /b", "/b", False),
        ("User-agent: marchwarden/1.0 (bot)\nDisallow: /", "/a", False),
        ("User-agent: march\nDisallow: /", "/a", True),
        ("User-agent: marchwarden-news\nDisallow: /", "/a", True),
        ("User-agent: *\nCrawl-delay: 1\nUser-agent: x\nDisallow: /", "/a", False),
        ("User-agent: *\nSitemap: https://x.org/s\nUser-agent: x\nDisallow: /", "/a", False),
        ("Disallow: /", "/a", True),
        ("user-agent : * # all\r\rDISALLOW\t:\t/a#b", "/ab", False),
        ("User-agent *\nDisallow /a", "/a", False),
        ("User-agent: *\nDissallow: /", "/a", False),
        ("User-agent: *\nAllow: /a\nDisallow: /a", "/a", True),
        ("User-agent: *\nAllow: /a\nDisallow: /a*", "/ab", False),
        ("User-agent: *\nDisallow: /a$", "/ab", True),
        ("User-agent: *\nDisallow: /a$b", "/a$bc", False),
        ("User-agent: *\nDisallow: /a$b", "/a", True),
        ("User-agent: *\nDisallow: *b*d$", "/abcd", False),
        ("User-agent: *\nDisallow: /*aba$", "/aba", False),
        ("User-agent: *\nDisallow: /ab*ba$", "/aba", True),
        ("User-agent: *\nDisallow: /", "/robots.txt", True),
        ("User-agent: *\nDisallow: /stra\u00dfe", "/stra%C3%9Fe", False),
        ("User-agent: *\nDisallow: /stra%c3%9fe", "/stra%C3%9Fe", False),
        ("User-agent: *\nDisallow: /%7Ejoe", "/~joe", False),
        ("User-agent: *\nDisallow: /~joe", "/%7Ejoe", False),
        ("User-agent: *\nAllow: /%7Ejoe\nDisallow: /", "/~joe", False),
        ("User-agent: *\nDisallow: /a%2Fb", "/a/b", True),
        ("User-agent: *\nDisallow: /file-%2A.html", "/file-*.html", False),
        ("User-agent: *\nDisallow: /file-%2A.html", "/file-a.html", True),
        ("User-agent: *\nDisallow: /?a=", "/?a=1", False),
        ("User-agent: *\nDisallow: /a b", "/a%20b", False),
        ("User-agent: *\nAllow: /A\nDisallow: /", "/a", False),
    ],
)
def test_groups_and_rules_are_read_as_the_standard_has_them(text: str, path: str, allowed: bool) -> None:
    assert parse(text.encode(), "marchwarden").allows(f"https://example.org{path}") is allowed


@pytest.mark.parametrize(
    ("text", "delay"),
    [
        ("User-agent: *\nCrawl-delay: 10", 10),
        ("User-agent: *\nCrawl-delay: 10\nUser-agent: Marchwarden\nCrawl-delay: 0.5", 0.5),
        ("User-agent: other\nCrawl-delay: 10", 0),
        ("User-agent: *\nCrawl-delay: -1", 0),
        ("User-agent: *\nCrawl-delay: inf", 0),
        ("User-agent: *\nCrawl-delay: soon", 0),
    ],
)
def test_the_delay_between_requests_is_that_of_our_group(text: str, delay: float) -> None:
    assert parse(text.encode(), "marchwarden").crawl_delay == delay


@given(st.binary(max_size=200), st.text(st.characters(exclude_categories=["Cs"]), max_size=20))
def test_any_bytes_are_read(body: bytes, path: str) -> None:
    parse(b"User-agent: *\nDisallow: " + body, "marchwarden").allows(f"https://example.org/{path}")


def test_a_file_made_to_be_slow_is_not() -> None:
    url = f"https://example.org/{'ab' * 4000}"
    with a_moment(5):
        assert parse(b"User-agent: *\nDisallow: /" + b"*a" * 200_000 + b"$", "marchwarden").allows(url)
        assert parse(b"a" + b" " * 250_000 + b":" + b" " * 240_000 + b"x", "marchwarden").allows(url)


CASES = SHARED_DATA / "robots-google/cases.json"


@pytest.mark.skipif(not CASES.is_file(), reason=f"the public set of robots.txt cases is not at {CASES}")
def test_every_case_of_a_public_set_that_the_standard_settles_is_decided_as_there() -> None:
    """All 72 of RFC 9309, and of 73 that are Google's own 69: the others cut lines at 16,664 octets, and take
    `/index.html` for its folder."""
    wrong = [case for case in json.loads(CASES.read_text("utf-8")) if not _is_decided_as_there(case)]
    assert [case for case in wrong if not case["google_specific"]] == []
    assert len(wrong) <= 4


def _is_decided_as_there(case: dict[str, Any]) -> bool:
    return parse(case["robots_txt"].encode(), case["user_agent"]).allows(case["url"]) is case["allowed"]
