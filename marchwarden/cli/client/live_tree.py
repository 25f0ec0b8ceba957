"""The rihlas of a running investigation as a tree on stderr: who was asked what, its state, its cost, its finds."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from marchwarden.cli.views.safe_text import count, one_line, word

if TYPE_CHECKING:
    from rich.console import Console
    from rich.tree import Tree

    from marchwarden.trace.events import Event

_STYLES = {"asked": "cyan", "back": "green", "lost": "red"}
# Times a second that the tree is drawn. A guess.
_A_SECOND = 4


@dataclass
class _Row:
    researcher: str
    question: str
    origin: str
    parent: int | None
    state: str = "asked"
    spent: str = ""
    found: str = ""
    now: str = ""


@dataclass
class LiveTree:
    """Collects what happens; `tree` shows it as it stands."""

    question: str
    rows: dict[int, _Row] = field(default_factory=dict)
    now: str = "planning"
    tokens: int = 0
    began: float = field(default_factory=time.monotonic)

    def watch(self, event: Event) -> None:
        if event.action == "dispatch":
            self.rows[event.rihla] = _Row(event.researcher, event.question, event.origin, event.parent)
        elif event.action == "return" and (row := self.rows.get(event.rihla)):
            row.state, row.spent, row.now = "back", count(event.charged_tokens, "token"), ""
            row.found = count(event.citations, "citation")
            self.tokens = event.tokens_used
        elif event.action == "lost" and (row := self.rows.get(event.rihla)):
            row.state, row.spent, row.now = "lost", count(event.charged_tokens, "token"), event.decision
            self.tokens = event.tokens_used
        elif event.action == "stop":
            self.now = event.decision

    def tell(self, number: int, message: str) -> None:
        if row := self.rows.get(number):
            row.now = message if row.state != "lost" else row.now
        elif number == 0:
            self.now = message

    @property
    def share_done(self) -> float:
        """Share of the rihlas sent so far that are over, 0–1."""
        over = sum(row.state != "asked" for row in self.rows.values())
        return over / len(self.rows) if self.rows else 0.0

    def tree(self, width: int) -> Tree:
        from rich.text import Text
        from rich.tree import Tree

        seconds = time.monotonic() - self.began
        head = f" · {seconds:.0f} s · {count(self.tokens, 'token')} · {self.share_done:.0%} · {one_line(self.now)}"
        root = Tree(Text.assemble((one_line(self.question, width - 4), "bold"), head, no_wrap=True))
        nodes: dict[int | None, Tree] = {None: root}
        for number, row in self.rows.items():
            what = one_line(row.question, max(20, width // 2))
            facts = [word(row.origin), row.state, row.spent, row.found, one_line(row.now, 40)]
            line = Text.assemble(
                (f"{number} {row.researcher}", _STYLES[row.state]),
                f" {what}",
                (" · " + " · ".join(filter(None, facts)), "dim"),
                no_wrap=True,
                overflow="ellipsis",
            )
            nodes[number] = nodes.get(row.parent, root).add(line)
        return root


@contextmanager
def shown(tree: LiveTree, out: Console) -> Iterator[None]:
    """Show the tree while it grows; a pipe gets nothing."""
    if not out.is_terminal or out.is_dumb_terminal:
        yield
        return
    from rich.live import Live

    with Live(get_renderable=lambda: tree.tree(out.width), console=out, refresh_per_second=_A_SECOND, transient=True):
        yield
