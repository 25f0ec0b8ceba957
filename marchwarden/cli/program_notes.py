"""What of a program is not used, or is another model's, said once on stderr with what to do about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from marchwarden.settings import Settings


def mention_program(settings: Settings) -> None:
    """Say what is not in force of the program that the settings find. Raises ConfigurationError where one is named
    that can't be used."""
    from marchwarden.cli import render
    from marchwarden.stages.compiled import program_in_force

    program = program_in_force(settings)
    for note in program.notes if program else ():
        render.notice(note.said, note.fix)


class Once:
    """Says each thing the first time that it is told."""

    def __init__(self) -> None:
        self._said: set[str] = set()

    def __call__(self, text: str) -> None:
        from marchwarden.cli import render

        if text not in self._said:
            self._said.add(text)
            render.notice(text)
