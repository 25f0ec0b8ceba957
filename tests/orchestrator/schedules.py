"""Random teams whose researchers misbehave, and what must hold whatever they do."""

from __future__ import annotations

import random
from pathlib import Path

from marchwarden.contract import DiscoveryEvent, DiscoveryType, Gap, GapCategory, OpenQuestion, Priority
from marchwarden.orchestrator.members import Call
from marchwarden.trace.events import Dispatched, Lost, Returned
from tests.orchestrator.fakes import HANGS, MODES, QUESTION, Script, events_of, investigate, member, page

_TOPICS = (
    QUESTION,
    "Who paid for it, in the raw data of the database",
    "The closed ledger of Halden",
    "Why is it red?",
)
_SECONDS_WITH_HANG, _SECONDS = 0.4, 30.0


def a_script(chance: random.Random, hangs: bool) -> Script:
    mode = chance.choice([each for each in MODES if hangs or each != HANGS])
    number = chance.randrange(6)
    said = chance.choice(["was built in 1931", "was built in 1947", "was paid for by the salt company", "is red"])
    pages = page(
        f"https://site{number}.example{chance.randrange(3)}.org/page", f"The Halden Bridge {said}, they say."
    )
    gaps = [
        Gap(topic=chance.choice(_TOPICS), category=chance.choice(list(GapCategory)), detail="it is so")
        for _ in range(chance.randrange(3))
    ]
    discoveries = [
        DiscoveryEvent(
            type=chance.choice(list(DiscoveryType)),
            suggested_researcher=chance.choice(["academic", "database", "legal", None]),
            query=chance.choice(["10.5555/x Who paid", "Who painted it?", "the census"]),
            reason="it is named",
        )
        for _ in range(chance.randrange(3))
    ]
    questions = [
        OpenQuestion(question=chance.choice(_TOPICS), context="so", priority=chance.choice(list(Priority)))
        for _ in range(chance.randrange(2))
    ]
    tokens = chance.choice([0, 100, 5_000, 10**7])
    return Script(mode, pages, gaps, discoveries, questions, tokens)


async def check_schedule(seed: int, folder: Path, *, hangs: bool) -> None:
    """Run one random investigation. Raises AssertionError where a promise is broken."""
    chance = random.Random(seed)
    budget = chance.choice([500, 900, 2_000, 10_000, 60_000, 1_000_000])
    team = []
    for number in range(chance.randint(1, 4)):
        scripts = [a_script(chance, hangs) for _ in range(8)]

        def say(call: Call, count: int, scripts: list[Script] = scripts) -> Script:
            return scripts[count % len(scripts)]

        kinds = chance.choice([(), (), ("academic",), ("database", "open_copies"), ("legal",)])
        at_once = chance.randint(1, 2)
        _, one = member(f"r{number}", folder, say, answers=kinds, at_once=at_once, share=chance.choice([0.5, 1, 3]))
        team.append(one)
    result, trace = await investigate(
        team,
        folder,
        budget=budget,
        seconds=_SECONDS_WITH_HANG if hangs else _SECONDS,
        at_once=chance.randint(1, 4),
    )
    lineage = result.lineage or []
    assert result.cost_metadata.tokens_used <= budget
    assert sum(each.tokens_used for each in lineage) == result.cost_metadata.tokens_used
    sent = {event.rihla: event for event in events_of(trace, Dispatched)}
    over = {event.rihla: event for event in [*events_of(trace, Returned), *events_of(trace, Lost)]}
    assert sent.keys() == over.keys()
    assert all(event.charged_tokens <= sent[number].tokens for number, event in over.items())
    assert sum(event.tokens for event in sent.values() if event.origin == "sub_question") <= budget
    # Whoever never brought anything after it was lost is named.
    told = " ".join(f"{gap.topic} {gap.detail}" for gap in result.gaps)
    for event in events_of(trace, Lost):
        retried = [each for each in sent.values() if each.origin == "retry" and each.parent == event.rihla]
        if not any(isinstance(over[each.rihla], Returned) for each in retried):
            assert f"the researcher {event.researcher}" in told
