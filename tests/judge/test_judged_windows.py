"""What the judge says of the windows of pages (evidence/relevance.py)."""

from __future__ import annotations

from pathlib import Path

import pytest

from marchwarden.evidence.close_reading import read_closely
from marchwarden.evidence.relevance import PageTerms, Relevance
from marchwarden.judge import answering
from marchwarden.judge.answering import AnswerJudge
from marchwarden.ledger import Aspect
from marchwarden.programs.parameters import DEFAULT
from marchwarden.reading.page import read_page
from marchwarden.stages.extract import ExtractGiven, model_free
from marchwarden.text import embedding
from marchwarden.text.embedding import Embedder
from tests.webs import article

pytestmark = pytest.mark.skipif(
    not (embedding.is_installed() and answering.is_installed()), reason="the extra `semantic` is not installed"
)

ASKED = Aspect(number=1, text="How high is the Halden Bridge?")
OPENED, TALL = "The Halden Bridge was opened in 1931 by the mayor.", "The bridge is 45 metres tall."


def read(*pages: tuple[bytes, str], judge: bool = True, asked: Aspect = ASKED, cache: Path) -> list[Relevance]:
    found = []
    for number, (body, media_type) in enumerate(pages, start=1):
        page = read_page(body, url=f"https://a{number}.org/", content_type=media_type)
        assert page
        found.append(Relevance(PageTerms(page), [asked], position=number))
    return read_closely(found, [asked], Embedder(cache / "vectors.sqlite"), AnswerJudge() if judge else None)


def html(*sentences: str, language: str = "en") -> tuple[bytes, str]:
    told = article("Halden Bridge", *sentences).replace('lang="en"', f'lang="{language}"')
    return told.encode(), "text/html; charset=utf-8"


def test_the_windows_that_were_judged_are_those_that_can_be_chosen(tmp_path: Path) -> None:
    (page,) = read(html(OPENED, TALL), cache=tmp_path)
    likely = page.likely(ASKED)
    assert page.is_judged(ASKED)
    assert likely
    assert all("judged" in page.features(window, ASKED) for window in likely)
    assert TALL in page.best(ASKED, 1)[0][1].text


def test_the_chances_of_a_judge_that_tells_too_high_ones_can_be_lowered(tmp_path: Path) -> None:
    (page,) = read(html(f"{OPENED} The Halden Bridge is 45 metres high."), cache=tmp_path)
    halved = DEFAULT.model_copy(update={"relevance": DEFAULT.relevance.model_copy(update={"as_judged": 0.5})})
    lower = Relevance(page.page, [ASKED], alike=page._alike, judged=page._judged, parameters=halved)
    for window in page.likely(ASKED):
        assert lower.of(window, ASKED) == pytest.approx(page.of(window, ASKED) / 2)
    assert max(page.of(window, ASKED) for window in page.likely(ASKED)) > 0.15


@pytest.mark.parametrize(("sentence", "is_lower"), [(OPENED, True), (TALL, False)])
def test_a_window_without_the_kind_that_is_asked_for_counts_less(
    sentence: str, is_lower: bool, tmp_path: Path
) -> None:
    (page,) = read(html(sentence), cache=tmp_path)
    same = DEFAULT.relevance.by_judge.model_copy(update={"specific_kind_missing": 0.0})
    blind = DEFAULT.model_copy(update={"relevance": DEFAULT.relevance.model_copy(update={"by_judge": same})})
    other = Relevance(page.page, [ASKED], alike=page._alike, judged=page._judged, parameters=blind)
    (window,) = page.likely(ASKED)
    assert (page.of(window, ASKED) < other.of(window, ASKED)) == is_lower


def test_a_page_whose_windows_all_rank_too_low_to_be_judged_has_none(tmp_path: Path) -> None:
    # More windows than are judged hold every word that is asked for.
    full = [
        html(*[f"The Halden Bridge is {n} metres high at pier {n}, says guide {k}." for n in range(9)])
        for k in range(8)
    ]
    *_, other = read(*full, html("Ships pass here every day, and in winter too."), cache=tmp_path)
    assert other.is_judged(ASKED)
    assert other.best(ASKED, 3) == []


@pytest.mark.parametrize(
    ("page", "asked"),
    [
        (html("Die Brücke ist 45 Meter hoch, und sie wurde von der Stadt gebaut.", language="de"), ASKED),
        (html("Die Brücke ist 45 Meter hoch.", language="de"), Aspect(number=1, text="Wie hoch ist die Brücke?")),
        ((b"bridge,height\nHalden,45\nKettwig,31\n", "text/csv; charset=utf-8"), ASKED),
    ],
)
def test_other_languages_and_files_of_rows_are_not_judged(
    page: tuple[bytes, str], asked: Aspect, tmp_path: Path
) -> None:
    (judged,) = read(page, asked=asked, cache=tmp_path)
    (compared,) = read(page, judge=False, asked=asked, cache=tmp_path)
    assert not judged.is_judged(asked)
    assert judged.best(asked, 3) == compared.best(asked, 3)


@pytest.mark.parametrize(("judged", "relevant", "answers"), [(0.01, 1.0, True), (1.0, 0.01, False)])
def test_a_passage_that_was_judged_answers_from_a_chance_of_its_own_on(
    judged: float, relevant: float, answers: bool, tmp_path: Path
) -> None:
    (page,) = read(html(OPENED, TALL), cache=tmp_path)
    parameters = DEFAULT.with_values({"extract.judged": judged, "extract.relevant": relevant})
    picked = model_free(ExtractGiven(ASKED.text, None, [ASKED], page, parameters))
    assert picked
    assert all(excerpt.answers is answers for excerpt in picked)


@pytest.mark.parametrize(
    ("sentences", "quoted"),
    [
        (
            (
                "So how did your day go, and how was the bridge?",
                "At 45 metres the Halden Bridge is very tall.",
                "The bridge has a kiosk.",
            ),
            "At 45 metres the Halden Bridge is very tall.",
        ),
        (("Fees for the bridge are high.", "The bridge is 45 metres high."), "The bridge is 45 metres high."),
        # The items of a list stay together.
        (
            (
                "<ul><li>Boats pass under the bridge each day</li><li>At 45 metres the Halden Bridge is very tall.</li></ul>",
            ),
            "Boats pass under the bridge each day\nAt 45 metres the Halden Bridge is very tall.",
        ),
        # The last one alone names Halden.
        (
            ("A market is held here.", "The bridge is 45 metres high.", "High fees for Halden."),
            "The bridge is 45 metres high.\n\nHigh fees for Halden.",
        ),
        # Without the sentence before it, "it" could be anything.
        ((f"{OPENED} It is 45 metres high.",), f"{OPENED} It is 45 metres high."),
    ],
)
def test_what_does_not_answer_at_the_ends_of_a_window_is_not_quoted(
    sentences: tuple[str, ...], quoted: str, tmp_path: Path
) -> None:
    (page,) = read(html(*sentences), cache=tmp_path)
    best, *_ = model_free(ExtractGiven(ASKED.text, None, [ASKED], page))
    assert best.text == quoted
    assert best.relevance == round(page.of(page.best(ASKED, 1)[0][1], ASKED), 4)
