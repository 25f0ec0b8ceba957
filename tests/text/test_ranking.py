"""Matching survives typography and script; scores are aligned, bounded and quiet; copies are told from quotations."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.text.ranking import (
    coverage,
    guess_language,
    near_duplicate,
    query_terms,
    rank,
    rank_terms,
    signature,
    term_weights,
    terms,
    terms_of,
    told_language,
)
from tests.profiles import a_moment

LAKE = (
    "The Great Salt Lake fell to its lowest recorded level in November 2022. Farms divert most of the water that "
    "its tributaries carry, and alfalfa takes the largest share of it. Dust from the exposed lake bed carries "
    "arsenic towards Salt Lake City. A wet winter in 2023 raised the lake by more than five feet, but managers "
    "warn that one good year does not undo decades of overuse."
)
BLIND = (
    "Tomatoes need about eight hours of direct sun each day. Gardeners in high valleys plant them after the last "
    "frost, usually in the second half of May, and harvest until September. Black plastic mulch warms the soil and "
    "brings the harvest forward by a week or two."
)


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("drought\u00adtolerant crops", "droughttolerant crops"),
        ("water\u00a0rights", "water rights"),
        ("e\ufb03cient irrigation", "efficient irrigation"),
        ("the \u201cbest\u201d crop", 'the "best" crop'),
        ("Utah\u2019s lakes", "Utah's lakes"),
        ("ten\u200bant", "tenant"),
        ("\uff37ater \uff12\uff10\uff12\uff12", "water 2022"),
        ("water\nrights", "water rights"),
        ("São Paulo", "Sao Paulo"),
        ("cafe\u0301", "café"),
        ("10,000 acres", "10000 acres"),
        ("snake_case", "snake case"),
    ],
)
def test_typography_never_breaks_a_match(written: str, plain: str) -> None:
    assert terms(written) == terms(plain) != []


def test_stop_words_go_and_stems_meet() -> None:
    assert terms("What are the ideal crops for a garden in Utah?") == ["ideal", "crop", "garden", "utah"]
    assert terms("cropping") == terms("crops")


@pytest.mark.parametrize("number", ["1847", "2.5", "5th", "co2"])
def test_numbers_are_kept(number: str) -> None:
    assert terms(f"about {number} of it") == [number]


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("東京の水", "ja", ["東京", "水"]),
        ("タルニクの人口は何人ですか？", "ja", ["タル", "ルニ", "ニク", "人口"]),
        ("本はいつ出版されましたか", "ja", ["本", "出版"]),
        ("塔尔尼克有多少人居住？", "zh", ["塔尔", "尔尼", "尼克", "人居", "居住"]),
        ("서울의 인구는 얼마입니까?", "ko", ["서울", "인구"]),
        ("도서관", "ko", ["도서", "서관"]),
        ("كم شخصا يعيش في تارنيك؟", "ar", ["شخص", "يعيش", "تار"]),
        ("तारनिक में कितने लोग रहते हैं?", "hi", ["तारनिक", "लोग", "रह"]),
        ("水", "zh", ["水"]),
        ("NHK東京", "ja", ["nhk", "東京"]),
        ("東京2020", "ja", ["東京", "2020"]),
        ("वर्षा।", "mr", ["वर्षा"]),
        ("물 부족", "ko", ["물", "부족"]),
        ("Вода́", "bg", ["вода"]),
        ("Häuser", "de-AT", ["haus"]),
        ("fjordene", "nb", ["fjord"]),
        ("l’eau de l'Isère", "fr", ["eau", "iser"]),
        ("Straße", "xx", ["strasse"]),
    ],
)
def test_every_script_gives_terms(text: str, language: str, expected: list[str]) -> None:
    assert terms(text, language) == expected


def test_thai_words_keep_their_vowel_signs_and_match_inside_a_run() -> None:
    assert set(terms("น้ำ", "th")) <= set(terms("ราคาน้ำดื่ม", "th"))


@given(st.lists(st.text(), max_size=5))
def test_any_text_gives_terms_that_are_words(texts: list[str]) -> None:
    for found in terms_of(texts):
        assert all(term and not term.isspace() for term in found)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("What do the farms grow?", ["farm", "grow"]),
        ("Welche Fristen gelten für die Verordnung?", ["frist", "gelt", "verordn"]),
        ("crops in Utah", ["crop", "utah", "crops"]),
        ("first AI winter", ["first", "ai", "winter", "wint"]),
        ("水質", ["水質"]),
        ("the", []),
    ],
    ids=["English", "German", "either", "a stop word by chance", "no stop words", "nothing else"],
)
def test_a_query_is_read_in_its_language_or_in_all(query: str, expected: list[str]) -> None:
    assert query_terms(query, ["de", "ja"]) == expected


@pytest.mark.parametrize(
    ("text", "language"),
    [
        (LAKE, "en"),
        ("Die Mauer stand bis 1989, und sie war lang.", "de"),
        ("Это было не так, как он думал, но и не хуже.", "ru"),
        ("東京の水道水", "ja"),
        ("韦尔莫拉湖的面积", "zh"),
        ("서울의 인구", "ko"),
        ("متى ولدت إيرينا سولفيك؟", "ar"),
        ("झील की गहराई", "hi"),
        ("Глубина озера", "ru"),
        ("Глибина озера Ялпуг є великою", "uk"),
        ("The word 水 means water", "en"),
        ("", "en"),
    ],
)
def test_stop_words_tell_the_language_of_a_text(text: str, language: str) -> None:
    assert guess_language(text) == language


GERMAN = "Die Mauer stand bis 1989, und sie war lang; wer sie sah, der weiß noch, wie es war und wie sie nach und nach fiel."


@pytest.mark.parametrize(
    ("text", "declared", "told"),
    [
        (GERMAN, "en", "de"),
        (GERMAN, "en-US", "de"),
        (GERMAN, "de-AT", "de-AT"),
        (GERMAN, None, "de"),
        (GERMAN[:40], "en", "en"),
        (GERMAN, "ja", "ja"),
        (LAKE, "fr", "en"),
        ("", "pl", "pl"),
        ("", None, "en"),
    ],
    ids=[
        "template",
        "tag",
        "as declared",
        "none",
        "too little",
        "no stop words known",
        "English",
        "empty",
        "nothing",
    ],
)
def test_many_stop_words_tell_the_language_against_the_declared_one(text: str, declared: str, told: str) -> None:
    assert told_language(text, declared) == told


def test_the_text_that_answers_ranks_first() -> None:
    texts = ["Lakes freeze in winter.", BLIND, LAKE]
    scores = rank("How low did the Great Salt Lake fall?", texts)
    assert max(scores) == scores[2]
    assert scores[1] == 0


@pytest.mark.parametrize(
    ("query", "texts", "expected"),
    [
        ("crops", [], []),
        ("", ["crops"], [0.0]),
        ("the", ["the"], [0.0]),
        ("crops", ["", ""], [0.0, 0.0]),
        ("crops", ["garden"], [0.0]),
    ],
)
def test_nothing_to_match_scores_nothing(query: str, texts: list[str], expected: list[float]) -> None:
    assert rank(query, texts) == expected


def test_a_single_text_that_matches_scores_above_zero() -> None:
    assert rank("crops", ["A crop."])[0] > 0


def test_the_rarer_word_and_the_shorter_text_count_for_more() -> None:
    scores = rank(
        "water alfalfa",
        ["water falls", "water runs", "water cools", "alfalfa grows", "alfalfa grows slowly in the valley"],
    )
    assert scores[3] > scores[4] > 0
    assert scores[3] > scores[0]


def test_a_repeated_query_word_counts_once() -> None:
    texts = ["water here", "crop here"]
    assert rank("water water crop", texts) == rank("water crop", texts)


def test_terms_taken_beforehand_rank_as_the_texts_do() -> None:
    texts = [LAKE, BLIND]
    assert rank_terms(terms("lake water"), terms_of(texts)) == rank("lake water", texts)


@given(st.text(alphabet="abc de", max_size=12), st.lists(st.text(alphabet="abc de", max_size=20), max_size=6))
def test_scores_are_aligned_and_never_negative(query: str, texts: list[str]) -> None:
    scores = rank(query, texts)
    assert len(scores) == len(texts)
    assert all(score >= 0 for score in scores)


def test_ranking_is_silent(capfd: pytest.CaptureFixture[str]) -> None:
    rank("lake", [LAKE] * 20)
    assert capfd.readouterr() == ("", "")


def test_three_hundred_sentences_rank_in_a_blink() -> None:
    """Far above what is measured (about 7 ms), far below what an accidental quadratic loop would take."""
    texts = [f"{sentence} {n}" for n in range(75) for sentence in LAKE.split(". ")]
    with a_moment(0.5):
        rank("How low did the lake fall?", texts)


def test_coverage_is_the_weighted_share_of_the_query() -> None:
    weights = {"crop": 1.0, "utah": 3.0}
    assert coverage(["crop", "utah"], ["utah", "soil"], weights) == 0.75
    assert coverage(["crop", "utah"], ["utah", "crop", "crop"], weights) == 1.0
    assert coverage(["crop"], [], weights) == 0.0
    assert coverage([], ["crop"], weights) == 0.0


def test_a_term_met_nowhere_weighs_as_the_rarest() -> None:
    assert coverage(["crop", "zebra"], ["crop"], {"crop": 1.0, "utah": 3.0}) == 0.25
    assert coverage(["crop", "zebra"], ["crop"], {}) == 0.5


def test_rare_terms_weigh_more_and_none_weighs_nothing() -> None:
    weights = term_weights([["water", "water"], ["water", "alfalfa"], ["water"]])
    assert weights["alfalfa"] > weights["water"] > 0
    assert term_weights([]) == {}


@given(st.lists(st.sampled_from("abcd"), max_size=4), st.lists(st.sampled_from("abcd"), max_size=4))
def test_coverage_stays_between_nothing_and_all(asked: list[str], carried: list[str]) -> None:
    assert 0 <= coverage(asked, carried, {"a": 0.5, "b": 2.0}) <= 1


@pytest.mark.parametrize(
    "copy",
    [
        LAKE,
        LAKE.replace("'", "\u2019").replace(" ", "\u00a0").upper(),
        "Originally published by the Deseret Basin Water Office. "
        + LAKE
        + " Share this story. Read more about lakes.",
        LAKE.replace("more than five feet", "about five and a half feet"),
        LAKE + " " + BLIND,
    ],
    ids=["itself", "typography", "boilerplate", "edited", "inside a longer page"],
)
def test_copies_are_known(copy: str) -> None:
    assert near_duplicate(LAKE, copy)
    assert near_duplicate(signature(copy), signature(LAKE))


@pytest.mark.parametrize(
    "other",
    [
        BLIND,
        "",
        "The Great Salt Lake fell to its lowest recorded level in November 2022, far below the mark of 1963, and "
        "nobody who kept a boat there will forget it. We walked out to the water over mud for most of an hour.",
        (BLIND + " ") * 2 + "Gardeners wrote that farms divert most of the water that its tributaries carry.",
    ],
    ids=["another subject", "nothing", "one shared sentence", "a quotation"],
)
def test_texts_of_their_own_are_no_copies(other: str) -> None:
    assert not near_duplicate(LAKE, other)


def test_short_texts_are_copies_only_when_the_same() -> None:
    assert near_duplicate("Closed for the season.", "closed for the season")
    assert not near_duplicate("Closed for the season.", "Open for the season.")
    assert not near_duplicate("", "")


@given(st.text(alphabet="ab ", max_size=60), st.text(alphabet="ab ", max_size=60))
def test_being_a_copy_goes_both_ways(one: str, other: str) -> None:
    assert near_duplicate(one, other) == near_duplicate(other, one)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        # Stop words of Dutch and German in names say nothing.
        ("Name: Hans Muller | City: Bern | Role: Engineer\n" * 9, "en"),
        ("Vincent van Gogh | Die Oude Molen | 1882\nCharles de Gaulle | Paris | 1944\n" * 6, "en"),
        (
            "Der Turm wurde 1884 gebaut, und er steht noch. Man kann ihn mit dem Zug von Bern aus in zwei Stunden sehen.",
            "de",
        ),
        ("WO LIEGT BERN?", "de"),
    ],
)
def test_names_and_numbers_are_in_no_language(text: str, language: str) -> None:
    assert guess_language(text) == language
