"""A command line that starts fast: typer 0.29 converts every value with pydantic, whose import alone takes as long as
`import typer, rich`. Flags, text and whole numbers need no such thing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup


@dataclass(frozen=True)
class _Plain:
    """Stands where typer would put its pydantic adapter."""

    convert: Callable[[Any], object]
    least: int | float | None

    def coerce(self, value: Any, param: Any, ctx: Any) -> object:
        if value is None:
            return None
        try:
            converted = self.convert(value)
        except ValueError:
            raise typer.BadParameter(f"{value!r} is not a whole number", ctx=ctx, param=param) from None
        if self.convert is int and self.least is not None and converted < self.least:  # type: ignore[operator]
            raise typer.BadParameter(f"{value} is less than {self.least}", ctx=ctx, param=param)
        return converted


def _quicken(params: Iterable[Any]) -> None:
    for each in params:
        descriptor = getattr(each, "type_descriptor", None)
        if descriptor is not None and descriptor.annotation in (bool, str, int):
            each._runtime_param = _Plain(descriptor.annotation, descriptor.parameter_info.min)


class QuickCommand(TyperCommand):
    """For commands whose parameters are flags, texts, and whole numbers with no upper bound."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        _quicken(self.get_params(ctx))
        return super().parse_args(ctx, args)


class QuickGroup(TyperGroup):
    """The same for the options that stand before a command."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        _quicken(self.get_params(ctx))
        return super().parse_args(ctx, args)
