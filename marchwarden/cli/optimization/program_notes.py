"""What of a program is not used, or is another model's, said once on stderr with what to do about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from marchwarden.settings import Settings


def mention_program(settings: Settings) -> None:
    """Say what is not in force of the program that the settings find. Raises ConfigurationError where one is named
    that can't be used."""
    from marchwarden.cli.views import console
    from marchwarden.stages.registry import program_in_force

    program = program_in_force(settings)
    for note in program.notes if program else ():
        console.notice(note.said, note.fix)


class Once:
    """Says each thing the first time that it is told."""

    def __init__(self) -> None:
        self._said: set[str] = set()

    def __call__(self, text: str) -> None:
        from marchwarden.cli.views import console

        if text not in self._said:
            self._said.add(text)
            console.notice(text)
