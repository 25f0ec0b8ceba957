"""Windows of a page: which neighbouring passages may be quoted together, and which window is chosen."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.contract import EXCERPT_LIMIT
from marchwarden.evidence.relevance import PageTerms, Relevance
from marchwarden.evidence.windows import (
    MOST_PASSAGES_OF_WINDOW,
    Window,
    entries_of_references,
    windows,
    with_rest_of_list,
)
from marchwarden.ledger import Aspect
from marchwarden.observations import Page
from marchwarden.reading.page import read_page
from tests.webs import article


def a_page(*sentences: str, title: str = "Notes") -> Page:
    page = read_page(
        article(title, *sentences).encode(), url="https://a.org/", content_type="text/html; charset=utf-8"
    )
    assert page
    return page


def best(question: str, page: Page) -> str:
    aspect = Aspect(number=1, text=question)
    ((_, window),) = Relevance(PageTerms(page), [aspect]).best(aspect, 1)
    return window.text


@given(st.lists(st.integers(1, 40), min_size=1, max_size=9), st.sets(st.integers(1, 9), max_size=4))
def test_a_window_is_a_slice_of_neighbours_within_the_limits(words: list[int], left_out: set[int]) -> None:
    page = a_page(*(f"The pier holds {'heavy ' * count}loads." for count in words))
    kept = [passage for passage in page.passages if passage.number not in left_out]
    for window in windows(page, kept):
        assert page.text[window.start : window.end] == window.text
        assert 1 <= len(window.passages) <= MOST_PASSAGES_OF_WINDOW
        assert len(window.text) <= EXCERPT_LIMIT or len(window.passages) == 1
        numbers = [passage.number for passage in window.passages]
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
        assert not left_out & set(numbers)
    assert {window.passages for window in windows(page, kept) if len(window.passages) == 1} == {
        (each,) for each in kept
    }


def test_an_answer_in_two_sentences_is_quoted_whole() -> None:
    page = a_page(
        "The ferry runs in summer only.",
        "The Halden Bridge has two owners.",
        "They are the county of Halden and the town of Sundal.",
        "Swans nest on the river bank.",
    )
    found = best("Who are the owners of the Halden Bridge in the county of Halden?", page)
    assert found.split("\n")[0] == "The Halden Bridge has two owners."
    assert "the town of Sundal" in found


def test_what_adds_nothing_is_not_quoted_along() -> None:
    page = a_page("The Halden Bridge was built in 1931.", "Swans nest on the river bank.")
    assert best("When was the Halden Bridge built?", page) == "The Halden Bridge was built in 1931."


def test_no_window_of_several_passages_begins_or_ends_with_what_a_page_says_of_itself() -> None:
    page = a_page(
        "Published on 4 October 2016", "The bridge was built in 1931.", "It is green.", "Subscribe to our list"
    )
    several = [window.text for window in windows(page, page.passages) if len(window.passages) > 1]
    assert [text.split() for text in several] == [
        ["The", "bridge", "was", "built", "in", "1931.", "It", "is", "green."]
    ]


COST, OWN_COST = "Average cost: $20,091.", "Average cost: $24,606."


@pytest.mark.parametrize(
    ("title", "ends", "goes_on"),
    [
        ("9. Midrange bath remodel", False, False),
        ("Midrange bath remodel", False, True),
        ("Bath", True, True),  # a button may be one word
        ("Its floor is of stone.", True, True),
    ],
)
def test_no_window_ends_with_the_title_of_what_follows(title: str, ends: bool, goes_on: bool) -> None:
    page = a_page(COST, title, OWN_COST, "It has a floor of stone.")
    texts = [each.text for each in windows(page, page.passages)]
    assert any(text.endswith(title) and COST in text for text in texts) is ends
    assert any(COST in text and OWN_COST in text for text in texts) is goes_on
    assert any(text.startswith(title) and OWN_COST in text for text in texts)


def test_items_of_a_list_and_what_is_said_again_are_no_titles() -> None:
    page = a_page("We sell these:", "Red chairs", "Blue chairs", "Compare both", COST, "Compare both", OWN_COST)
    texts = [each.text for each in windows(page, page.passages)]
    assert any(text.startswith("We sell") and text.endswith("Blue chairs") for text in texts)
    assert any(text.startswith(COST) and text.endswith("Compare both") for text in texts)


def test_a_name_that_stands_only_in_the_sentence_before_counts() -> None:
    question = Aspect(number=1, text="How tall is the lighthouse of Sundal?")
    named = a_page("The lighthouse of Sundal stands on the cape.", "It is 31 metres tall.", title="Coasts")
    other = a_page("The church of Halden stands on the hill.", "It is 31 metres tall.", title="Coasts")

    def of(page: Page) -> float:
        terms = PageTerms(page)
        (window,) = (each for each in terms.windows if each.text == "It is 31 metres tall.")
        return Relevance(terms, [question]).rank(window, question)

    assert of(named) > of(other)


@pytest.mark.parametrize(
    ("question", "quoted"),
    [
        ("When was the library in Trondheim opened?", ["Trondheim"]),
        ("When were the libraries in Oslo and Trondheim opened?", ["Oslo", "Trondheim"]),
    ],
)
def test_of_a_files_table_the_rows_that_a_question_names_are_quoted(question: str, quoted: list[str]) -> None:
    rows = ["Bergen,1870", "Oslo,1877", "Trondheim,1884", "Hamar,1891", "Molde,1898"]
    body = "\n".join(["Municipality,Opened", *rows]).encode()
    page = read_page(body, url="/home/ada/libraries.csv", content_type="text/csv")
    assert isinstance(page, Page)
    aspect = Aspect(number=1, text=question)
    ((_, window),) = Relevance(PageTerms(page), [aspect]).best(aspect, 1)
    assert [row.text.split()[1] for row in window.passages] == quoted
    assert window.passages[0].place == f"L{2 + [row.split(',')[0] for row in rows].index(quoted[0])}"


@pytest.mark.parametrize(
    ("body", "question", "quoted", "place"),
    [
        (
            "Name\tScore\tScore\nAda\t3\t4\nBea\t5\t6\nCid\t7\t8\n",
            "What scores has Bea?",
            "Name: Bea | Score: 5 | Score: 6",
            "L3",
        ),
        ("Oak\tQuercus\t300\nYew\tTaxus\t1200\nFir\tAbies\t400\n", "How old is a yew?", "Yew | Taxus | 1200", "L2"),
        # No names of columns: the row below holds no value.
        ("red\tred\tblue\ngreen\tred\twhite\nblack\tpink\tgrey\n", "Is it pink?", "black | pink | grey", "L3"),
    ],
)
def test_rows_of_a_file_are_quoted_one_by_one_without_names_and_with_the_same_twice(
    body: str, question: str, quoted: str, place: str
) -> None:
    page = read_page(body.encode(), url="/home/ada/table.tsv", content_type="text/tab-separated-values")
    assert isinstance(page, Page)
    aspect = Aspect(number=1, text=question)
    ((_, window),) = Relevance(PageTerms(page), [aspect]).best(aspect, 1)
    assert [(row.text, row.place) for row in window.passages] == [(quoted, place)]


@pytest.mark.parametrize(
    ("question", "names_none"),
    [
        ("Which municipality's library opened first?", True),
        ("When was the library of Drammen opened?", True),
        ("When was the library in Trondheim opened?", False),
        ("Who built Trondheim?", False),
        ("What is the fee of Hans?", False),
    ],
)
def test_no_row_is_named_only_of_a_long_table_that_the_question_is_about(question: str, names_none: bool) -> None:
    rows = ["Bergen,1870", "Oslo,1877", "Trondheim,1884", "Hamar,1891", "Molde,1898"]
    body = "\n".join(["Municipality,Library opened", *rows]).encode()
    aspect = Aspect(number=1, text=question)
    long = read_page(body, url="/home/ada/libraries.csv", content_type="text/csv")
    short = read_page(body.rpartition(b"\n")[0], url="/home/ada/libraries.csv", content_type="text/csv")
    assert isinstance(long, Page)
    assert isinstance(short, Page)
    assert Relevance(PageTerms(long), [aspect]).names_no_row(aspect) == names_none
    assert not Relevance(PageTerms(short), [aspect]).names_no_row(aspect)


def test_a_table_in_no_language_is_about_a_question_by_the_words_that_say_something() -> None:
    body = b"name,fee\nEmma,3\nHans,4\nAda,5\nBea,6\nCid,7\n"
    page = read_page(body, url="/home/ada/fees.csv", content_type="text/csv")
    assert isinstance(page, Page)
    asked = ("Which name has the highest fee?", "What is the fee of Hans?", "Who has borrowed the wall?")
    aspects = [Aspect(number=number, text=text) for number, text in enumerate(asked, start=1)]
    relevance = Relevance(PageTerms(page), aspects)
    assert [relevance.names_no_row(aspect) for aspect in aspects] == [True, False, False]


def test_entries_of_a_list_of_references_answer_only_those_who_ask_for_works() -> None:
    entries = (
        "Manson JE, Cook NR, et al. Vitamin D and cancer. N Engl J Med 2019;380:33–44.",
        "Krizhevsky, A.; Sutskever, I. (2012). Deep networks. Advances 25, doi:10.1145/3065386.",
        "3. Gillmore JD, et al. Gene editing in vivo. N Engl J Med 2021;385:493–502.",
    )
    sentences = (
        "Vaswani et al. (2017) described the transformer.",
        "John F. Kennedy (1917–1963) was the 35th president.",
        "The ratio was 3:1 in 2019, as Smith et al. had found.",
        # These have authors' form and numbers, and no year.
        "Weber, K. (Bern), telephone 031, 555-1234",
        "Lee, B. (room 12) Tue 9:00-12:00",
        "Roth, C. (NOR) 6-4, 6-3, 7-6",
    )
    page = a_page(*entries, *sentences)
    found = entries_of_references(page, page.passages)
    assert {each.text for each in page.passages if each.number not in found} == set(sentences)
    assert "Manson" not in best("Does vitamin D prevent cancer?", page)
    assert "Manson" in best("Which papers are there on vitamin D and cancer?", page)


ITEMS = ["A robot", "A clean base", "Two bags", "A line cord"]


def of_html(body: str) -> Page:
    html = f"<html><head><title>Robots</title></head><body><article><h1>Robots</h1>{body}</article></body></html>"
    page = read_page(html.encode(), url="https://a.org/", content_type="text/html; charset=utf-8")
    assert page
    return page


def with_rest(page: Page, first: str, last: str, *, key: str | None = None, until: str | None = None) -> str:
    """The text that a window from one passage to another, which it begins and ends with, becomes."""
    texts = [passage.text for passage in page.passages]
    chosen = page.passages[texts.index(first) : texts.index(last) + 1]
    window = Window(tuple(chosen), page.text[chosen[0].start : chosen[-1].end])
    key_passage = page.passages[texts.index(key or last)]
    end = page.passages[texts.index(until)].start if until else len(page.text)
    return with_rest_of_list(page, page.passages, window, key_passage, end).text


LIST = of_html(
    "<p>The robot cleans floors in every room of a house. What is in the box:</p>"
    f"<ul>{''.join(f'<li>{item}</li>' for item in ITEMS)}</ul>"
    "<p>It is sold in shops and costs 400 crowns in all of them.</p>"
)


def test_a_quote_that_ends_within_a_list_goes_on_with_its_items() -> None:
    whole = with_rest(LIST, "What is in the box:", "A robot")
    assert whole == LIST.text[LIST.text.index("What is in the box:") : LIST.text.index("\n\nIt is sold")]
    assert with_rest(LIST, "A clean base", "Two bags").endswith("A line cord")  # two items tell a list, too


@pytest.mark.parametrize(
    ("first", "last", "until"),
    [
        ("A clean base", "A clean base", None),  # one line alone
        ("What is in the box:", "What is in the box:", "A robot"),  # another quote begins there
        ("It is sold in shops and costs 400 crowns in all of them.", "It is sold in shops and costs 400 crowns in all of them.", None),
    ],
)  # fmt: skip
def test_what_ends_in_no_list_stays_as_it_is(first: str, last: str, until: str | None) -> None:
    assert with_rest(LIST, first, last, until=until) == LIST.text[LIST.text.index(first) :][: len(first)]


def test_short_paragraphs_under_a_line_that_leads_in_are_a_list() -> None:
    page = of_html(
        "<p>The robot cleans all floors of a house.</p><p>What is in the box:</p>"
        + "".join(f"<p>{item}</p>" for item in ITEMS)
    )
    assert with_rest(page, "What is in the box:", "A robot").endswith("A line cord")
    assert with_rest(page, "A robot", "A clean base") == "A robot\n\nA clean base"


def test_where_a_list_leaves_no_room_what_stands_before_it_is_left_out_but_not_what_fits_best() -> None:
    before = "The robot, which was shown at a fair in spring, cleans the floors of every room of a house for a year."
    items = [f"Part {number} of the robot and what belongs to that part of the robot" for number in range(1, 9)]
    page = of_html(f"<p>{before} What is in the box:</p><ul>{''.join(f'<li>{item}</li>' for item in items)}</ul>")
    whole = with_rest(page, before, items[0], key="What is in the box:")
    assert whole == f"What is in the box:\n\n{chr(10).join(items[:7])}"
    assert len(whole) <= EXCERPT_LIMIT
    assert with_rest(page, before, items[0], key=before).startswith(before)


@pytest.mark.parametrize(
    ("question", "found"),
    [
        (
            "How high was inflation in America in 2022?",
            "American inflation rose to 9.1 percent in the year to June 2022.",
        ),
        (
            "How high was inflation in Great Britain in 2022?",
            "Inflation in the UK was as high as 11.1 percent in 2022.",
        ),
        ("How high was inflation in 2022?", "Inflation in the UK was as high as 11.1 percent in 2022."),
    ],
)
def test_what_is_said_of_another_country_is_no_answer(question: str, found: str) -> None:
    page = a_page(
        "Inflation in the UK was as high as 11.1 percent in 2022.",
        *(f"Shop {number} put up new signs each week, and then it closed." for number in range(1, 9)),
        "American inflation rose to 9.1 percent in the year to June 2022.",
        title="Prices",
    )
    assert found in best(question, page)
