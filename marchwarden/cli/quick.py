"""A command line that starts fast, since values of the right type are not converted, and refuses in plain words.

typer converts every value with pydantic, which takes 0.12 of the 0.35 s of CPU of `marchwarden history` (importing it
and building adapters; evals/benchmarks/startup.py). Texts, flags and defaults need none of that.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, cast

import typer
from typer.core import TyperCommand, TyperGroup

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pydantic import ValidationError

# Exit code of a command line that can't be run, as click has it.
WRONG_USAGE = 2
# As of a process that SIGINT ended (128 + 2).
INTERRUPTED = 130


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


class QuestionCommand(TyperCommand):
    """A command that tells of a question without quotes."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        ctx.allow_extra_args = True
        left = super().parse_args(ctx, args)
        if left and not ctx.resilient_parsing:
            question = " ".join([ctx.params.get("question") or "", *left])
            raise typer.BadParameter(f'put the question in quotes: {ctx.command_path} "{question}"')
        return left


class QuickGroup(TyperGroup):
    """The same for the options that stand before a command. Wrong usage is told as other errors are, in our words."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        # Names of commands are small letters without spaces: this is a question.
        if args and (" " in args[0] or args[0][:1].isupper()) and not ctx.resilient_parsing:
            raise typer.BadParameter(f'to ask a question: {ctx.command_path} ask "{" ".join(args)}"')
        return super().resolve_command(ctx, args)

    def make_context(self, *args: Any, **more: Any) -> Any:
        try:
            return super().make_context(*args, **more)
        except typer.TyperException as error:
            raise _told(error, "marchwarden") from None

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except typer.TyperException as error:
            raise _told(error, f"{ctx.command_path} {ctx.invoked_subcommand or ''}".strip()) from None
        except KeyboardInterrupt:  # of commands that have no more to say about it than that
            from marchwarden.cli.views import console

            console.notice("Interrupted.")
            raise typer.Exit(INTERRUPTED) from None

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        _quicken(self.get_params(ctx))
        return super().parse_args(ctx, args)


def _told(error: Any, command: str) -> Exception:
    """Print what is wrong with the command line of `command`, without a frame that would break what can be copied;
    return what ends the command. Help that is shown for want of arguments is returned as it is."""
    if type(error).__name__ == "NoArgsIsHelpError":
        return cast("Exception", error)
    from marchwarden.cli.views import console

    message = str(error.format_message())
    if type(error) is typer.BadParameter:
        cause = error.__cause__
        if type(cause).__name__ == "ValidationError":  # importing pydantic for the class would take too long
            from marchwarden.errors import InvalidRequest

            error.message = InvalidRequest.of(cast("ValidationError", cause)).problems[0][1]
        message = f"{_name_of(error.param)}{error.message}"
    console.error(message, f"Help: {error.ctx.command_path if error.ctx else command} --help")
    return typer.Exit(WRONG_USAGE)


def _name_of(param: Any) -> str:
    """Return the option or argument that a problem is with, as the help names it; empty for none."""
    if param is None:
        return ""
    return f"{param.opts[0] if param.opts[0].startswith('-') else param.metavar or param.name.upper()}: "
