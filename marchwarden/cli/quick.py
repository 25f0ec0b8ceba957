"""A command line that starts fast: a value that is of its type already is not converted.

typer converts every value with pydantic, which takes 0.12 of the 0.35 s of CPU of `marchwarden traces` (importing it
and building adapters; evals/benchmarks/startup.py). Texts, flags and defaults need none of that.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from typer.core import TyperCommand, TyperGroup

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


def _quicken(params: Iterable[Any]) -> None:
    """Go round `process_value`, click's public step from what was given to what the command gets.

    A second time changes nothing: commands are kept from run to run.
    """
    for each in params:
        if hasattr(each, "type_descriptor"):
            each.process_value = partial(_process_value, each, partial(type(each).process_value, each))


def _process_value(param: Any, convert: Callable[[Any, Any], object], ctx: Any, value: Any) -> object:
    if value is None and param.required:
        return convert(ctx, value)
    if value is not None and type(value) is not param.type_descriptor.annotation:
        return convert(ctx, value)
    return param.callback(ctx, param, value) if param.callback else value


class QuickCommand(TyperCommand):
    """A command whose texts, flags and defaults are taken as they are."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        _quicken(self.get_params(ctx))
        return super().parse_args(ctx, args)


class QuickGroup(TyperGroup):
    """The same for the options that stand before a command."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        _quicken(self.get_params(ctx))
        return super().parse_args(ctx, args)
