"""Notices on stderr about parts of a program that are not used, or are another model's, each said once."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from marchwarden.settings import Settings


def mention_program(settings: Settings) -> None:
    """Say which parts are not in force of the program that the settings find.

    Raises ConfigurationError where the settings name a program that can't be used.
    """
    from marchwarden.cli.views import console
    from marchwarden.stages.registry import program_in_force

    program = program_in_force(settings)
    for note in program.notes if program else ():
        console.notice(note.said, note.fix)


class Once:
    """A printer of notices that says each text only once."""

    def __init__(self) -> None:
        self._said: set[str] = set()

    def __call__(self, text: str) -> None:
        from marchwarden.cli.views import console

        if text not in self._said:
            self._said.add(text)
            console.notice(text)
