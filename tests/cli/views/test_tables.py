"""Tables of figures at every width: what may break, what may go, and that no figure is cut."""

from __future__ import annotations

import pytest
from rich.console import Console
from rich.text import Text

from marchwarden.cli.views.console import whole_parts
from marchwarden.cli.views.tables import NO_BREAK, Entries, Figures, Indented, Lines

KINDS = Figures(
    ("kind", "evidence recall", "gap category accuracy", "contradiction F1"),
    [("context-dependent", "0.71", "", "1.00"), ("several words that make a kind", "0.89", "0.90", "")],
)
SCORES = Figures(
    ("metric", "score", f"95{NO_BREAK}% interval", "n"),
    [("gap category accuracy", "0.712", "0.61 – 0.83", "123"), ("tokens", "12,345", "", "9")],
    spare=("n", f"95{NO_BREAK}% interval"),
)


def drawn(shown: Figures | Indented | Lines | Entries, width: int) -> list[str]:
    console = Console(width=width, highlight=False, color_system=None)
    with console.capture() as capture:
        console.print(shown, crop=False)
    return capture.get().splitlines()


@pytest.mark.parametrize("width", [20, 30, 40, 50, 60, 80, 120])
def test_no_figure_is_cut_no_line_is_too_long_and_none_ends_in_blanks(width: int) -> None:
    for shown, figures in ((KINDS, ("0.71", "1.00", "0.89", "0.90")), (SCORES, ("0.712", "12,345"))):
        lines = drawn(shown, width)
        assert all(len(line) <= width for line in lines)
        assert all(line == line.rstrip() for line in lines)
        assert "…" not in "".join(lines)
        words = " ".join(lines).split()
        assert [figure for figure in figures if figure not in words] == []


def test_with_room_a_head_stands_on_one_line() -> None:
    assert drawn(SCORES, 80)[0].split("  ")[0] == "metric"
    assert "95 % interval" in drawn(SCORES, 80)[0]


def test_where_it_is_narrow_heads_and_names_break_first_then_columns_go() -> None:
    assert "0.61 – 0.83" in "\n".join(drawn(SCORES, 42))
    narrower = "\n".join(drawn(SCORES, 36))
    assert "123" not in narrower
    assert "0.61 – 0.83" in narrower
    assert "0.61" not in "\n".join(drawn(SCORES, 22))


def test_where_no_columns_fit_a_row_is_a_paragraph() -> None:
    assert drawn(KINDS, 40)[:3] == [
        "context-dependent",
        "  evidence recall 0.71",
        "  contradiction F1 1.00",
    ]


def test_a_paragraph_to_the_right_ends_where_its_text_does() -> None:
    assert drawn(Indented(Text("+ a gain that is long")), 14) == ["  + a gain", "  that is long"]


def test_a_table_without_rows_keeps_the_words_of_its_head_whole() -> None:
    head = ("stage", "uncompiled", "compiled", f"95{NO_BREAK}% interval", "without model", "valid output", "calls")
    assert "stage" in drawn(Figures(head, []), 70)[-3].split()


ADDRESS = "https://garden.example/" + "a-long-way/" * 9 + "crops?x=1&y=2"
PLACE = "/home/someone/" + "a-folder-of-many/" * 6 + "answers.jsonl"


@pytest.mark.parametrize("width", [20, 45, 80])
def test_addresses_and_paths_are_never_broken_and_other_lines_fit(width: int) -> None:
    text = Text(f"It was read from {ADDRESS} once, and kept in {PLACE}.\n→ read it again")
    for shown in (Lines(text), Lines(text, 4), Entries([(Text("ok  traces"), text), (Text("ok  x"), Text("none"))])):
        lines = drawn(shown, width)
        whole = [line for line in lines if ADDRESS in line or f"{PLACE}." in line]
        assert len(whole) == 2
        assert all(len(line) <= width for line in lines if line not in whole)
        assert " ".join(" ".join(lines).split()).count("→ read it again") == 1


def test_a_long_run_of_letters_without_spaces_is_broken_where_it_is_no_name() -> None:
    assert drawn(Lines(Text("日" * 30)), 20) == ["日" * 10] * 3


def test_a_text_stands_beside_its_name_with_room_and_below_it_without() -> None:
    rows = Entries([(Text("ok  traces"), Text("all there")), (Text("ok  x"), Text("none\n→ do"))])
    assert drawn(rows, 60) == ["ok  traces  all there", "ok  x       none", "            → do"]
    assert drawn(rows, 40) == ["ok  traces", "    all there", "ok  x", "    none", "    → do"]


@pytest.mark.parametrize(("room", "left"), [(43, "evidence 0.71 · nuggets 0.80"), (15, "evidence 0.71"), (-3, "")])
def test_scores_behind_a_bar_are_left_out_whole(room: int, left: str) -> None:
    assert whole_parts("evidence 0.71 · nuggets 0.80", room) == left
