"""Adapters of public data sets, on tiny hand-made files of their formats, and on the sets where they are."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.contract import GapCategory, SourceFilter
from marchwarden.errors import EvaluationError, StorageError
from marchwarden.evaluation.datasets import DATASETS, DatasetReport, QuestionSet, ScoredSet
from marchwarden.evaluation.datasets.cacm import average_precision, load, ndcg
from marchwarden.evaluation.datasets.dataset_files import sampled
from marchwarden.evaluation.labels.label_check import check
from marchwarden.evaluation.labels.questions import Question
from marchwarden.frozen_web.pages import FrozenWeb
from marchwarden.http.addresses import organisation_of
from marchwarden.settings import load_settings
from marchwarden.sources.snapshot_search import SnapshotSearch
from tests.shared_data import SHARED_DATA


def asked(name: str, path: Path, web: Path, limit: int | None = None) -> list[Question]:
    """The questions of a set, whose labels hold."""
    dataset = DATASETS[name]
    assert isinstance(dataset, QuestionSet)
    questions = dataset.questions_of(path, web, limit)
    assert anyio.run(check, questions, load_settings(web=web)) == []
    return questions


def scored(name: str, path: Path, limit: int | None = None) -> DatasetReport:
    dataset = DATASETS[name]
    assert isinstance(dataset, ScoredSet)
    return dataset.score(path, limit)


def write_rows(file: Path, *rows: Any) -> Path:
    lines = "".join(json.dumps(row) + "\n" for row in rows).encode()
    file.write_bytes(gzip.compress(lines) if file.suffix == ".gz" else lines)
    return file


# gaps


def row(name: str, *docs: str | dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A row of gaps-v0 with an answer, from SQuAD unless its name or `source` says otherwise."""
    return {
        "id": name,
        "source": name.partition(":")[0],
        "licence": "none",
        "question": "Who cast the bell of Harrow?",
        "docs": [
            {"doc_id": f"d{n}", **({"text": doc} if isinstance(doc, str) else doc)} for n, doc in enumerate(docs)
        ],
        "expected_gaps": [],
        "gold_answers": [],
        "text_is_verbatim": True,
        "note": "",
        "split": "dev",
        **fields,
    }


BELL = "The tower of Harrow is 84 metres high. Its bell was cast by Ida Brandt in 1887 . It can be heard in Leith."
ANSWERED = row("squad2:1", BELL, gold_answers=["Ida Brandt", "ida brandt", "Brandt"])
UNANSWERED = row("squad2:2", BELL, question="Who painted the bell of Harrow?", expected_gaps=["source_not_found"])
FREE_TEXT = row(
    "clapnq:-3",
    {"title": "Bells", "text": BELL, "gold_sentences": ["Its bell was cast by Ida Brandt in 1887 ."]},
    gold_answers=["A woman of the name of Brandt made it towards the end of the century."],
)
TWO_PAGES = row(
    "multihoprag:4",
    {"title": "Harrow", "text": "Harrow's bell was cast by Ida Brandt.", "published_at": "2023-10-20T23:51:34+00:00"},
    {"title": "Brandt", "text": "Brandt owned the foundry of Leith.", "published_at": "2023-11-03T08:00:00+00:00"},
    gold_answers=["Ida Brandt"],
    note="inference_query",
)
YES_OR_NO = row("multihoprag:5", "One article praises the bell of Harrow.", gold_answers=["no"])
WITHOUT_PAGES = row("multihoprag:6", expected_gaps=["source_not_found"], gold_answers=["Insufficient information."])
DISPUTED = row(
    "conflictnq:7",
    {"text": "Its bell was cast on May 8 , 1887 , by Ida Brandt.", "kind": "real"},
    {"text": "In 1901 the foundry closed. The bell is a work of 1903.", "kind": "fake"},
    {"text": "Little else is known of the foundry.", "kind": "fake"},
    question="When was the bell of Harrow cast?",
    expected_gaps=["contradictory_sources"],
    gold_answers=["May 8, 1887"],
    note="fake: 1903",
)
DISPUTED_VAGUELY = row(
    "conflictnq:8",
    {"text": "Its sound calls sailors home.", "kind": "real"},
    {"text": "It was meant to scare gulls.", "kind": "fake"},
    question="What is the bell of Harrow for?",
    expected_gaps=["contradictory_sources"],
    gold_answers=["To guide ships safely into harbour"],
    note="fake: For driving away birds from crops",
)
ONE_ANSWER = row(
    "ramdocs:9",
    {"text": "The bell was cast by Ida Brandt.", "kind": "correct", "answer": "Ida Brandt"},
    {"text": "The bell was cast by Otto Keller.", "kind": "misinfo", "answer": "Otto Keller"},
    {"text": "Bells are made of bronze.", "kind": "noise", "answer": "unknown"},
    expected_gaps=["contradictory_sources"],
    gold_answers=["Ida Brandt"],
)
PARTIAL = row("mtrag-un:a<::>10", BELL, expected_gaps=["source_not_found"], gold_answers=["x"], note="partial: both")
LEFT_OUT = (
    row("ramdocs:11", BELL, gold_answers=["Ida Brandt", "Otto Keller"]),
    row("mtrag-un:12", BELL, expected_gaps=["open_question"]),
    row("squad2:13", BELL, question="Who cast it? " * 40),
)
ROWS = (ANSWERED, UNANSWERED, FREE_TEXT, TWO_PAGES, YES_OR_NO, WITHOUT_PAGES, DISPUTED, DISPUTED_VAGUELY, ONE_ANSWER)


@pytest.fixture
def gaps_file(tmp_path: Path) -> Path:
    return write_rows(tmp_path / "dev.jsonl.gz", *LEFT_OUT, *ROWS, PARTIAL)


@pytest.fixture
def gaps(gaps_file: Path, tmp_path: Path) -> dict[str, Question]:
    return {question.id: question for question in asked("gaps", gaps_file, tmp_path / "web")}


def test_rows_with_several_answers_without_a_category_or_too_long_are_left_out(gaps: dict[str, Question]) -> None:
    assert list(gaps) == [
        "squad2-1", "squad2-2", "clapnq--3", "multihoprag-4", "multihoprag-5", "multihoprag-6", "conflictnq-7",
        "conflictnq-8", "ramdocs-9", "mtrag-un-a-10",
    ]  # fmt: skip


def test_categories_are_ours(gaps: dict[str, Question]) -> None:
    told = {name: [gap.category for gap in question.gaps] for name, question in gaps.items()}
    assert told["squad2-1"] == told["clapnq--3"] == told["multihoprag-4"] == []
    assert told["squad2-2"] == told["multihoprag-6"] == told["mtrag-un-a-10"] == [GapCategory.SOURCE_NOT_FOUND]
    assert told["conflictnq-7"] == told["ramdocs-9"] == [GapCategory.CONTRADICTORY_SOURCES]
    assert gaps["squad2-2"].kinds == ["unanswerable"]
    assert gaps["mtrag-un-a-10"].kinds == ["several-aspect"]


def test_an_answer_is_a_vital_nugget_with_the_sentence_that_says_it(gaps: dict[str, Question]) -> None:
    (nugget,) = gaps["squad2-1"].nuggets
    assert nugget.vital
    assert nugget.answers == ["Ida Brandt", "Brandt"]
    assert [quote.quote for quote in nugget.evidence] == ["Its bell was cast by Ida Brandt in 1887 ."]


def test_an_answer_is_found_however_it_is_spaced(gaps: dict[str, Question]) -> None:
    (nugget,) = gaps["conflictnq-7"].nuggets
    assert nugget.answers == ["May 8, 1887", "May 8 , 1887"]


def test_an_answer_in_free_text_or_a_yes_or_no_gives_evidence_alone(gaps: dict[str, Question]) -> None:
    for name, quote in (
        ("clapnq--3", "Its bell was cast by Ida Brandt in 1887 ."),
        ("multihoprag-5", "One article praises the bell of Harrow."),
    ):
        (nugget,) = gaps[name].nuggets
        assert not nugget.vital
        assert [each.quote for each in nugget.evidence] == [quote]


def test_pages_that_an_answer_rests_on_without_saying_it_are_evidence_too(gaps: dict[str, Question]) -> None:
    answer, other = gaps["multihoprag-4"].nuggets
    assert (answer.vital, other.vital) == (True, False)
    assert other.evidence[0].quote == "Brandt owned the foundry of Leith."


def test_pages_that_say_other_things_are_a_contradiction(gaps: dict[str, Question]) -> None:
    (contradiction,) = gaps["conflictnq-7"].contradictions
    assert contradiction.required
    assert [side.quote for side in contradiction.sides] == [
        "Its bell was cast on May 8 , 1887 , by Ida Brandt.",
        "The bell is a work of 1903.",
    ]
    (contradiction,) = gaps["ramdocs-9"].contradictions
    assert len(contradiction.sides) == 2


def test_a_contradiction_whose_sides_no_sentence_states_is_not_required(gaps: dict[str, Question]) -> None:
    (contradiction,) = gaps["conflictnq-8"].contradictions
    assert not contradiction.required


def test_each_question_is_kept_to_pages_of_its_own(gaps: dict[str, Question], tmp_path: Path) -> None:
    web = FrozenWeb.load(tmp_path / "web")
    allowed = {name: SourceFilter(question.constraints["source_filter"]) for name, question in gaps.items()}
    for host in web.hosts:
        assert sum(each.allows(host) for each in allowed.values()) == 1
    for name, question in gaps.items():
        assert all(allowed[name].allows(quote.url.split("/")[2]) for quote in question.quotes)
    assert len({organisation_of(host) for host in web.hosts}) == len(web.hosts)


def test_a_search_for_a_question_finds_its_own_pages(gaps: dict[str, Question], tmp_path: Path) -> None:
    question = gaps["multihoprag-4"]
    search = SnapshotSearch(load_settings(web=tmp_path / "web"))
    allowed = SourceFilter(question.constraints["source_filter"])
    outcome = anyio.run(partial(search.search, question.question, max_results=10, source_filter=allowed))
    assert {(hit.title, str(hit.published)) for hit in outcome.hits} >= {("Harrow", "2023-10-20")}
    assert all(allowed.allows(hit.url.split("/")[2]) for hit in outcome.hits)


def test_a_question_without_documents_gets_those_of_the_site_it_was_asked_of(
    gaps: dict[str, Question], tmp_path: Path
) -> None:
    allowed = SourceFilter(gaps["multihoprag-6"].constraints["source_filter"])
    pages = [page for page in FrozenWeb.load(tmp_path / "web").pages.values() if allowed.allows(page.host)]
    assert len(pages) == 3
    assert any(b"Brandt owned the foundry" in page.body() for page in pages)


def test_a_limit_changes_nothing_about_the_questions_it_leaves(
    gaps: dict[str, Question], gaps_file: Path, tmp_path: Path
) -> None:
    fewer = asked("gaps", gaps_file.parent, tmp_path / "smaller", limit=4)
    assert len(fewer) == 4
    assert all(gaps[question.id] == question for question in fewer)


def test_writing_the_same_web_again_leaves_it_as_it_is(
    gaps: dict[str, Question], gaps_file: Path, tmp_path: Path
) -> None:
    before = FrozenWeb.load(tmp_path / "web").fingerprint
    asked("gaps", gaps_file, tmp_path / "web")
    assert FrozenWeb.load(tmp_path / "web").fingerprint == before


def test_a_folder_that_cannot_be_written_is_a_storage_error(gaps_file: Path, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(StorageError, match="taken"):
        asked("gaps", gaps_file, tmp_path / "taken")


def test_text_that_looks_like_markup_is_text(tmp_path: Path) -> None:
    file = write_rows(
        tmp_path / "dev.jsonl.gz",
        row("squad2:1", "If a<b & b<c, then <b>Ida</b> Brandt wins.", gold_answers=["Brandt"]),
    )
    (question,) = asked("gaps", file, tmp_path / "web")
    assert question.quotes[0].quote == "If a<b & b<c, then <b>Ida</b> Brandt wins."


# hotpot


def two_hops(name: str, answer: str, kind: str = "bridge") -> dict[str, Any]:
    return {
        "id": name,
        "question": "Where did the founder of the bell of Harrow live?",
        "answer": answer,
        "type": kind,
        "level": "hard",
        "supporting_facts": {"title": ["Bell of Harrow", "Ida Brandt", "Ida Brandt"], "sent_id": [1, 0, 9]},
        "context": {
            "title": ["Bell of Harrow", "Leith", "Ida Brandt"],
            "sentences": [
                ["The bell of Harrow is a bell.", " It was cast by Ida Brandt."],
                ["Leith is a port."],
                ["Ida Brandt lived in  Leith.", " She died there."],
            ],
        },
    }


def test_the_sentence_with_the_answer_is_vital_and_the_other_hop_is_evidence(tmp_path: Path) -> None:
    write_rows(tmp_path / "hotpot_distractor_100.jsonl", two_hops("a1", "Leith"), two_hops("b2", "yes", "comparison"))
    first, second = asked("hotpot", tmp_path, tmp_path / "web")
    assert [(nugget.vital, nugget.evidence[0].quote) for nugget in first.nuggets] == [
        (True, "Ida Brandt lived in Leith."),
        (False, "It was cast by Ida Brandt."),
    ]
    assert [nugget.vital for nugget in second.nuggets] == [False, False]
    assert second.kinds == ["several-source", "comparison"]
    assert not set(first.constraints["source_filter"].split(", ")) & set(
        second.constraints["source_filter"].split(", ")
    )


# cacm


@pytest.fixture
def cacm(tmp_path: Path) -> Path:
    pages = {
        "CACM-0007": "Sorting on Tapes\n\nMerging long runs from many tapes.",
        "CACM-0012": "Bell Foundries\n\nBronze and clay.",
        "CACM-1003": "Sorting in Core\n\nExchange sorting without tapes.",
    }
    with tarfile.open(tmp_path / "cacm.tar.gz", "w:gz") as archive:
        for name, text in pages.items():
            body = f"<html>\n<pre>\n\n{text}\n\nCACM January, 1962\n\n</pre>\n</html>\n".encode()
            member = tarfile.TarInfo(f"{name}.html")
            member.size = len(body)
            archive.addfile(member, io.BytesIO(body))
    (tmp_path / "topics.cacm.txt").write_text(
        "<DOC>\n<DOCNO> 1 </DOCNO>\n\n merging runs\nfrom tapes \n</DOC>\n"
        "<DOC>\n<DOCNO> 2 </DOCNO>\n exchange sorting \n</DOC>\n"
        "<DOC>\n<DOCNO> 3 </DOCNO>\n never judged \n</DOC>\n"
    )
    (tmp_path / "qrels.cacm.txt").write_text("1 Q0 CACM-7 1\n1 Q0 CACM-12 0\n2 Q0 CACM-1003 1\n")
    return tmp_path


@pytest.mark.parametrize("name", ["cacm", "cacm-files"])
def test_a_search_that_puts_what_is_relevant_first_scores_1(cacm: Path, name: str) -> None:
    report = scored(name, cacm)
    assert report.items == 2
    assert report.figures == {"map": 1.0, "ndcg@10": 1.0, "map_as_carried": 0.5}


def test_a_limit_is_of_queries_and_any_of_the_files_names_the_folder(cacm: Path) -> None:
    assert scored("cacm", cacm / "qrels.cacm.txt", limit=1).items == 1


RANKING = st.lists(st.integers(0, 12), unique=True, max_size=12).map(lambda names: [str(name) for name in names])
RELEVANT = st.sets(st.integers(0, 12).map(str), min_size=1, max_size=6)


@pytest.mark.parametrize("figure", [average_precision, ndcg])
@given(found=RANKING, relevant=RELEVANT)
def test_a_ranking_scores_1_only_with_all_that_is_relevant_at_its_top(
    figure: Callable[[list[str], set[str]], float], found: list[str], relevant: set[str]
) -> None:
    value = figure(found, relevant)
    assert 0 <= value <= 1 + 1e-9
    assert (value > 1 - 1e-9) == (set(found[: len(relevant)]) == relevant)


@pytest.mark.parametrize("figure", [average_precision, ndcg])
@given(found=RANKING, relevant=RELEVANT, at=st.integers(0, 10))
def test_what_is_relevant_is_worth_more_the_higher_it_stands(
    figure: Callable[[list[str], set[str]], float], found: list[str], relevant: set[str], at: int
) -> None:
    if at + 1 < len(found) and found[at] not in relevant and found[at + 1] in relevant:
        better = [*found[:at], found[at + 1], found[at], *found[at + 2 :]]
        assert figure(better, relevant) >= figure(found, relevant)


@pytest.mark.parametrize(
    ("found", "relevant", "expected"),
    [("abc", "a", (1, 1)), ("abc", "c", (1 / 3, 0.5)), ("abc", "ac", (5 / 6, 0.919721)), ("", "a", (0, 0))],
)
def test_figures_of_rankings_worked_out_by_hand(found: str, relevant: str, expected: tuple[float, float]) -> None:
    assert (average_precision(found, relevant), ndcg(found, relevant)) == pytest.approx(expected, abs=1e-6)


# wice, expertqa


def test_claims_that_a_page_carries_are_told_from_those_it_does_not(tmp_path: Path) -> None:
    page = ["Harrow", "The tower of Harrow was finished in 1887.", "Its bell was cast by Ida Brandt."]
    labels = {
        "The tower of Harrow was finished in 1887.": "supported",
        "The tower of Harrow was finished in 1887 by Otto Keller.": "partially_supported",
        "Penguins live on islands.": "not_supported",
    }
    rows = [
        {"label": label, "supporting_sentences": [], "claim": claim, "evidence": page, "meta": {"id": f"dev{n}"}}
        for n, (claim, label) in enumerate(labels.items())
    ]
    report = scored("wice", write_rows(tmp_path / "claim_dev.jsonl.gz", *rows))
    assert (report.name, report.items) == ("wice", 3)
    assert report.figures["auroc"] == report.figures["carried_precision"] == report.figures["carried_recall"] == 1
    assert report.figures["supported"] == pytest.approx(1 / 3)


def judged(claim: str, support: str | None, *evidence: str) -> dict[str, Any]:
    return {"claim_string": claim, "evidence": list(evidence), "support": support, "correctness": "Unsure"}


def test_claims_without_judgement_or_text_are_left_out_and_systems_compared_apart(tmp_path: Path) -> None:
    source = "[1] https://harrow.example/bell\n\n"
    said = judged("The bell was **cast** by Ida Brandt [1].", "Complete", source + "Its bell was cast by Ida Brandt.")
    unsaid = judged(
        "The bell was cast by Otto Keller [1].", "Incomplete", source + "Its bell was cast by Ida Brandt."
    )
    answers = {
        "one": {"claims": [said, unsaid, judged("It rings.", "Complete", source), judged("It rings.", "Missing")]},
        "two": {
            "claims": [said, judged("It rings.", None, source + "It rings."), judged("It rings.", "N/A", source)]
        },
    }
    report = scored("expertqa", write_rows(tmp_path / "rand_val.jsonl.gz", {"question": "Who?", "answers": answers}))
    assert report.items == 3
    assert report.figures["auroc_within_groups"] == report.figures["carried_precision"] == 1


def test_figures_that_cannot_be_computed_are_left_out(tmp_path: Path) -> None:
    row = {"label": "not_supported", "claim": "Penguins swim.", "evidence": ["Harrow"], "meta": {"id": "dev1"}}
    assert scored("wice", write_rows(tmp_path / "claim_dev.jsonl.gz", row)).figures == {"supported": 0}


# All


def test_names_are_those_of_the_registry() -> None:
    assert list(DATASETS) == ["gaps", "hotpot", "cacm", "cacm-files", "wice", "expertqa"]
    assert all(name == dataset.name for name, dataset in DATASETS.items())


def use(name: str, path: Path, web: Path) -> None:
    dataset = DATASETS[name]
    if isinstance(dataset, QuestionSet):
        dataset.questions_of(path, web, None)
    else:
        dataset.score(path, None)


EXPECTED = {
    "gaps": "dev.jsonl.gz",
    "hotpot": "hotpot_distractor_100.jsonl",
    "cacm": "cacm.tar.gz",
    "cacm-files": "cacm.tar.gz",
    "wice": "claim_dev.jsonl.gz",
    "expertqa": "rand_val.jsonl.gz",
}


@pytest.mark.parametrize("name", DATASETS)
def test_a_path_where_nothing_is_names_the_file_that_should_be(name: str, tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(EvaluationError) as error:
            use(name, path, tmp_path / "web")
        assert EXPECTED[name] in (error.value.hint or "")
    assert EXPECTED[name] in DATASETS[name].expects


@pytest.mark.parametrize("name", DATASETS)
@pytest.mark.parametrize("body", [b"", b"{}\n", b"[1]\n", b"no rows\n", b"\xff\xfe\x00", b"\x1f\x8b\x08torn"])
def test_a_file_of_something_else_is_named_with_what_is_wrong(name: str, body: bytes, tmp_path: Path) -> None:
    file = tmp_path / EXPECTED[name]
    file.write_bytes(body)
    for other in ("topics.cacm.txt", "qrels.cacm.txt"):
        (tmp_path / other).write_bytes(body)
    with pytest.raises(EvaluationError) as error:
        use(name, tmp_path, tmp_path / "web")
    assert file.name in f"{error.value} {error.value.hint}"


@pytest.mark.parametrize(
    ("topics", "judgements", "named"),
    [
        ("<DOC><DOCNO> 1 </DOCNO> sorting </DOC>", "1 Q0 CACM-7\n", "qrels.cacm.txt, line 1|line 1"),
        ("<DOC><DOCNO> 9 </DOCNO> sorting </DOC>", "1 Q0 CACM-7 1\n", "no query"),
    ],
)
def test_judgements_that_do_not_fit_are_named(topics: str, judgements: str, named: str, cacm: Path) -> None:
    (cacm / "topics.cacm.txt").write_text(topics)
    (cacm / "qrels.cacm.txt").write_text(judgements)
    with pytest.raises(EvaluationError, match=named):
        scored("cacm", cacm)


@given(st.lists(st.text(max_size=5), unique=True), st.integers(0, 30), st.integers(0, 30))
def test_a_smaller_sample_is_part_of_a_larger_one_in_the_same_order(items: list[str], one: int, other: int) -> None:
    fewer, more = (sampled(items, limit, lambda item: item) for limit in sorted((one, other)))
    assert [item for item in more if item in fewer] == fewer
    assert len(more) == min(len(items), max(one, other))
    assert sampled(items, None, lambda item: item) == items


# The sets themselves


def real(folder: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(
        not (SHARED_DATA / folder).is_dir(), reason=f"the public set is not at {SHARED_DATA / folder}"
    )


@pytest.mark.parametrize(
    ("name", "folder"),
    [
        pytest.param("gaps", "gaps-v0", marks=real("gaps-v0")),
        pytest.param("hotpot", "qa-hotpot-100", marks=real("qa-hotpot-100")),
    ],
)
def test_labels_of_the_public_question_sets_hold(name: str, folder: str, tmp_path: Path) -> None:
    questions = asked(name, SHARED_DATA / folder, tmp_path / "web", limit=40)
    assert len(questions) == 40
    assert sum(bool(question.quotes) for question in questions) >= 20


@real("attrib-wice")
def test_the_checker_tells_supported_claims_of_a_public_set() -> None:
    """80 of 349 claims; all of them gave .827 when this was written, plain token overlap .727."""
    figures = scored("wice", SHARED_DATA / "attrib-wice", limit=80).figures
    assert figures["auroc"] > 0.75
    assert figures["auroc"] > figures["auroc_tokens"]


@real("attrib-expertqa")
def test_the_checker_tells_claims_that_experts_judged_better_than_chance() -> None:
    """All 741: the judgements are of pages that the set holds a part of. .606 when this was written."""
    assert scored("expertqa", SHARED_DATA / "attrib-expertqa").figures["auroc"] > 0.58


@real("ir-cacm")
def test_every_page_that_is_judged_relevant_is_there() -> None:
    """Searching them takes ten seconds, and is `marchwarden eval --dataset cacm`'s: MAP .300 when this was written."""
    collection = load(SHARED_DATA / "ir-cacm")
    assert len(collection.queries) == 52
    assert all(judged.relevant <= collection.pages.keys() for judged in collection.queries)
