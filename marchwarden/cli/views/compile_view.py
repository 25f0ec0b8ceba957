"""A compile's estimate and its outcome, as rich renderables. Pure: console.py prints them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from rich.text import Text

from marchwarden.cli.views.programs_view import figures_table, number
from marchwarden.cli.views.safe_text import count, visible
from marchwarden.cli.views.tables import NO_BREAK, Figures, Indented

if TYPE_CHECKING:
    from rich.console import RenderableType

    from marchwarden.optimization.estimate import Estimate, Order
    from marchwarden.optimization.model_free.parameter_search import ParametersReport
    from marchwarden.optimization.program_records import Outcome
    from marchwarden.programs import StageRecord

    View: TypeAlias = Iterable[RenderableType]


def estimates_view(
    order: Order, estimates: Sequence[Estimate], hours: Mapping[str, float], whole: tuple[int, float]
) -> View:
    """Show each stage's examples, calls, tokens, hours and dollars as estimated; then the limits of the whole
    compile. `whole` are tokens and hours of the questions from end to end."""
    said = f"{order.optimizer.name}: {order.optimizer.says}"
    yield Text(f"{visible(order.settings.model_id)}, by {said}", style="bold")
    rows = [
        (
            each.stage,
            f"{each.learn} + {each.choose}",
            str(each.dev),
            f"{each.calls + each.reflection_calls:,}",
            f"{each.tokens:,}",
            _hours(hours[each.stage]),
            _dollars(each.dollars),
        )
        for each in estimates
    ]
    known = [each.dollars for each in estimates if each.dollars is not None]
    total = sum(known) if len(known) == len(estimates) else None
    rows.append(
        (
            "all",
            "",
            "",
            f"{sum(each.calls + each.reflection_calls for each in estimates):,}",
            f"{sum(each.tokens for each in estimates):,}",
            _hours(sum(hours.values())),
            _dollars(total),
        )
    )
    heads = (
        "stage",
        "train examples",
        "dev examples",
        "calls, at most",
        "tokens, about",
        "hours, about",
        "dollars, about",
    )
    yield Figures(heads, rows, spare=heads[1:3])
    if order.questions:
        questions = count(order.questions, "dev question")
        yield Text(
            f"Then {questions} from end to end, with and without: at most {whole[0]:,} tokens and "
            f"{_hours(whole[1])} hours more."
        )
    limits = []
    if order.tokens is not None:
        limits.append(f"{order.tokens:,} tokens")
    if order.calls is not None:
        limits.append(f"{order.calls:,} calls of searches and validations")
    if limits:
        yield Text(f"It never spends more than {' and '.join(limits)}. Nothing has been spent.")
    else:
        yield Text("No limit is set; --token-budget and --max-calls set one. Nothing has been spent.")


def outcome_view(outcome: Outcome, search: ParametersReport | None = None) -> View:
    """Show each stage uncompiled and compiled, with the reason; then the whole program, and the cost."""
    info = outcome.info
    yield Text(f"{visible(info.model_id)}, seed {info.seed}", style="bold")
    yield Figures(
        (
            "stage",
            "uncompiled",
            "compiled",
            f"95{NO_BREAK}% interval",
            f"without{NO_BREAK}model",
            "valid output",
            "calls",
            "",
        ),
        [_stage_row(name, record) for name, record in info.stages.items()],
        spare=("calls",),
    )
    for name, record in info.stages.items():
        yield Indented(Text(f"{name}: {record.reason}"))
    if search and search.changes:
        yield Text("Parameters", style="bold")
        changed = [(name, f"{one:g}", f"{other:g}") for name, (one, other) in search.changes.items()]
        yield Figures(("parameter", "was", "is"), changed)
    if info.whole:
        yield Text(
            f"The whole program on {count(info.whole.questions, f'{info.whole.split} question')}", style="bold"
        )
        yield figures_table(info.whole.figures)
    cost = info.cost
    calls = f"{count(cost.calls, 'call')}, {cost.tokens:,} tokens, " if cost.calls else ""
    dollars = f", {_dollars(cost.dollars)} dollars" if cost.dollars else ""
    yield Text(f"It took {calls}{cost.seconds:,.0f} s{dollars}.")


def _stage_row(name: str, record: StageRecord) -> tuple[str, ...]:
    interval = "–" if record.difference is None else f"{record.difference[0]:+.2f} – {record.difference[1]:+.2f}"
    valid = "–" if record.valid_uncompiled is None else f"{record.valid_uncompiled:.2f}"
    if record.valid_uncompiled is not None and record.valid_compiled is not None:
        valid += f" → {record.valid_compiled:.2f}"
    return (
        name,
        number(record.uncompiled if record.dev_examples else None),
        number(record.compiled),
        interval,
        number(record.model_free),
        valid,
        f"{record.calls:,}",
        record.verdict,
    )


def _hours(value: float) -> str:
    return f"{value:,.2f}"


def _dollars(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
