"""Read what a question compares: the words around one or two plainer questions, which other planners answer.

Each word is either part of a frame below or stays in a plainer question, where it must be understood.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from marchwarden.sources.database.planning.draft import Unclear
from marchwarden.sources.database.planning.everyday.periods import MONTHS, PART_OF_YEAR
from marchwarden.sources.database.planning.over_joins.deal_words import DEAL_CUES
from marchwarden.sources.database.planning.question_links import Token
from marchwarden.sources.database.planning.question_words import CUES, NUMBERS


@dataclass(frozen=True)
class Share:
    """Percentage that a number is of another; the questions for each stand in the order in which they are tried."""

    pairs: tuple[tuple[str, str], ...]
    """Question for the part, and for the whole; an empty whole is the part without its only condition."""
    timeless: Mapping[str, str] = field(default_factory=dict)
    """Question for the whole of all times, by that for the whole in the period of the part. It is the whole where the
    part is all of that period."""
    is_of_groups: bool = False
    """True where the share of each group is told."""
    keeps_number: bool = False
    """True where the groups are chosen by the number that the part is told by: the largest share."""
    without: tuple[str, str] | None = None
    """Question for the rows that are not part of it, and for all."""


@dataclass(frozen=True)
class Ratio:
    pairs: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class PerUnit:
    """Sum of a column for each unit of another: `income per visitor`."""

    questions: tuple[str, ...]
    unit: str


@dataclass(frozen=True)
class Margin:
    """Profit in percent of what it was made with."""

    question: str


@dataclass(frozen=True)
class Growth:
    """Change of a number between two periods."""

    pairs: tuple[tuple[str, str], ...]
    """Question for the earlier and for the later period."""
    periods: tuple[str, str]
    tells: tuple[str, ...]
    """`change` and `percent`, in the order in which they are told."""
    is_count: bool = False
    """True where the question says that rows are counted."""
    is_of_groups: bool = False
    """True where the growth of each group is told."""
    top: str = ""
    """`DESC` where only the group is told that grew most, by the first of `tells`; `ASC` for least."""


@dataclass(frozen=True)
class Outgrown:
    """Groups whose number is more, or less, in one period than in another."""

    pair: tuple[str, str]
    periods: tuple[str, str]
    operator: str


@dataclass(frozen=True)
class Ranked:
    """Rows that come second, third or later by a number, or in places that follow each other."""

    questions: tuple[str, ...]
    """Questions for the first place, in the order in which they are tried."""
    place: int
    last: int
    """Last of the places; the first one where a single place is asked for."""


@dataclass(frozen=True)
class ButNot:
    """Rows with one thing but without another, as two questions for those without."""

    has_not: str
    """Question for the rows without the thing that they have."""
    lacks: str


Frame: TypeAlias = Share | Ratio | PerUnit | Margin | Growth | Outgrown | Ranked | ButNot

_OF_YEAR = rf"(?:{'|'.join(MONTHS)}|{PART_OF_YEAR})"
_PERIOD = rf"(?:{_OF_YEAR}(?:(?: of)? \d{{4}})?|\d{{4}}(?: q[1-4])?|(?:this|last) (?:year|month|quarter))"
_SHARE = r"(?:share|percentage|percent|proportion|fraction)"
_NUMBERED = ("second 2nd", "third 3rd", "fourth 4th", "fifth 5th", "sixth 6th", "seventh 7th", "eighth 8th")
_PLACES = {word: place for place, words in enumerate(("first 1st", *_NUMBERED), start=1) for word in words.split()}
_PLACE = rf"(?:{'|'.join(_PLACES)})"
_HIGHEST_PLACE = 100
_GROW = (
    r"(?:grow|grew|grown|increase|increased|rise|rose|risen|change|changed|fall|fell|fallen|drop|dropped|decrease"
    r"|decreased|decline|declined|go up|gone up|go down|gone down|shrink|shrunk)"
)
_GROWTH = r"(?:growth(?: rate)?|change|increase|rise|decrease|decline|drop|fall)"
_AGAINST = r"(?:compared (?:to|with)|relative to|versus|vs|against|over|from)"
_SPAN = (
    rf"(?:from (?P<a1>{_PERIOD}) to (?P<b1>{_PERIOD})|between (?P<a2>{_PERIOD}) and (?P<b2>{_PERIOD})"
    rf"|in (?P<b3>{_PERIOD})(?: ,)? {_AGAINST} (?P<a3>{_PERIOD}))"
)
_THAN = rf"(?:in )?(?P<b1>{_PERIOD}) than (?:in )?(?P<a1>{_PERIOD})"
_ARTICLES = re.compile(r"^(?:(?:all|of|the|our|your|my) )+", re.IGNORECASE)
_AUXILIARIES = frozenset(
    {
        "is", "are", "was", "were", "be", "been", "have", "has", "had", "do", "does", "did", "come", "comes", "came",
        "go", "goes", "went"
    }
)  # fmt: skip
# Words that a verb may leave out, since they say only that something is so.
_COPULAS = ("is", "are", "was", "were", "come", "comes", "came")
_PREPOSITIONS = ("in", "by", "with", "from", "at", "for", "during", "on", "of")
_DENIALS = (
    r"(?:never|not|no|none|nothing|without|(?:did|do|does|have|has|had|was|were|is|are)(?:n't| not| never| no))"
)


def read_frame(tokens: Sequence[Token], is_name: Callable[[str], bool], units: frozenset[str]) -> Frame | None:
    """Return what a question compares, or None. `is_name` tells whether a word stands in a name of the schema.

    `units` are the words of columns of numbers. Raises Unclear where it compares, but it is not clear what.
    """
    text = " ".join(f'"{each.text}"' if each.kind == "quoted" else each.text for each in tokens)
    for word, read in _READERS:
        found = re.search(rf"\b(?:{word})\b", text, re.IGNORECASE)
        if found and not any(is_name(each) for each in found[0].split()):
            frame = read(text)
            if frame is not None:
                return frame
    return _read_unit(text, units)


# Shares


def _read_share(text: str) -> Share | None:
    if (frame := _read_shares(text)) is not None:
        return frame
    largest = (
        rf"(?P<who>(?:which|what) .+?) (?:accounts? for|accounted for|makes? up|made up|has|have|had|contributes?"
        rf"|contributed|brings? in|brought in) the (?P<top>\w+) {_SHARE} of (?P<of>.+)"
    )
    if (found := _whole(largest, text)) and (found["top"].lower(),) in CUES:
        subject, top = _bare(found["of"]), found["top"]
        return Share(
            tuple(
                (f"{found['who']} has the {said} {subject}", f"{ask} {subject}")
                for said, ask in ((top, "what was the total"), ("most", "how many"))
            ),
            is_of_groups=True,
            keeps_number=True,
        )
    plain = rf"(?:(?:what|which|how many)(?: (?:is|was) (?:the|our))?) {_SHARE} of (?P<rest>.+?){_WHEN}"
    if not (found := _whole(plain, text)) or re.search(_MEAN, text, re.IGNORECASE):
        return None
    words = _bare(found["rest"]).split()
    verb = next((at for at in range(1, len(words)) if _is_verb(words[at])), None)
    when = found["when"] or ""
    if verb is None:
        alone = f"{' '.join(words)}{when}"
        return Share(((f"how many {alone} are there", ""),))
    subject = " ".join(word for word in words[:verb] if word.lower() not in ("that", "who", "which"))
    said = " ".join(words[verb:])
    behind = ""
    if words[verb].lower() in _COPULAS and verb + 1 < len(words):
        rest = " ".join(words[verb + 1 :])
        is_joined = words[verb + 1].lower() in _PREPOSITIONS or _is_verb(words[verb + 1])
        behind = rest if is_joined else f"of {rest}"
    # What came from lamps in 2024 is a share of 2024. Only rows that have no day there are a share of all.
    pairs = [(f"{ask} {subject} {said}{when}", f"{ask} {subject}{when}") for ask in _ASKED]
    pairs += [(f"{_ASKED[-1]} {subject} {behind}{when}", f"{_ASKED[-1]} {subject}{when}")] if behind else []
    timeless = {f"{ask} {subject}{when}": f"{ask} {subject}" for ask in _ASKED} if when else {}
    pairs += [(f"{_ASKED[0]} {subject} {said}{when}", f"{_ASKED[0]} {subject}")] if when else []
    never = (f"how many {subject} never {said}{when}", f"how many {subject}")
    return Share(tuple(pairs), timeless, without=never)


def _read_shares(text: str) -> Share | None:
    """Read the share of each group: `What share of revenue does each genre bring in?`, `share of orders by month`."""
    each = rf"(?:what|which) {_SHARE} of (?P<of>.+?) (?P<said>(?:does|do|did) each .+?){_WHEN}"
    from_each = (
        rf"(?:what|which) {_SHARE} of (?P<of>.+?) (?:comes?|came|goes|go|went|is|are|was|were|has|have|had|falls?"
        rf"|belongs?)(?: (?:from|to|in|into|with|by|at|for|made by))? (?P<group>each .+?){_WHEN}"
    )
    by = rf"{_SHOW}{_SHARE} of (?P<of>(?!each\b).+?) (?P<said>(?:by|per|for each|of each) .+?){_WHEN}"
    own = rf"{_SHOW}(?P<group>each .+?) {_SHARE} (?:of|in) (?P<of>.+?){_WHEN}"
    in_all = rf"{_SHOW}{_SHARE} (?:of|for) (?P<group>each .+?) (?:in|of) (?P<of>(?!{_PERIOD}$).+?){_WHEN}"
    named = rf"{_SHOW}(?P<of>.+?) {_SHARE} (?:(?:of|for|by|per|in) )(?P<group>each .+?){_WHEN}"
    for pattern in (each, from_each, by, own, in_all, named):
        if found := _whole(pattern, text):
            parts = found.groupdict()
            said, when = parts.get("said") or f"for {parts['group']}", parts["when"] or ""
            subject = _bare(parts["of"])
            if re.search(_MEAN, subject, re.IGNORECASE) or not _AUXILIARIES.isdisjoint(subject.lower().split()):
                return None  # what share rock has in each country
            return Share(
                tuple((f"{ask} {subject} {said}{when}", f"{ask} {subject}{when}") for ask in _ASKED),
                is_of_groups=True,
            )
    return None


# Time at the end of a question, which holds for the part and for the whole.
_WHEN = rf"(?P<when> (?:in|during|for) {_PERIOD}| (?:this|last) (?:year|month|quarter))?"
_SHOW = r"(?:(?:what (?:is|was|are|were)|show|list|give|tell)(?: me| us)? )?(?:the |our )?"
# Questions for a number, by what is asked for: rows, money, a column.
_ASKED = ("how many", "how much", "what was the total")
# Words of a number that is told as it is, and has no total.
_MEAN = r"\b(?:average|mean|median|maximum|minimum|highest|lowest)\b"


# Ratios


def _read_ratio(text: str) -> Ratio | None:
    found = _whole(
        r"what (?:is|was) (?:the |our )?ratio (?:of|between) (?P<one>.+?) (?:to|and) (?P<other>.+?)"
        rf"(?P<rest> (?:for each|of each|per|by) .+| in {_PERIOD})?",
        text,
    )
    if not found:
        return None
    one, other, rest = _bare(found["one"]), _bare(found["other"]), found["rest"] or ""
    if re.search(_MEAN, text, re.IGNORECASE):
        return None
    counts = [sum(word.lower() in _PREPOSITIONS for word in each.split()) for each in (one, other)]
    if counts[1] > counts[0]:
        raise Unclear("it is not clear whether a condition holds for both")  # orders to customers from Oslo
    asked = [(a, b) for a in ("how many", "what is the total") for b in ("how many", "what is the total")]
    return Ratio(tuple((f"{a} {one}{rest}", f"{b} {other}{rest}") for a, b in asked))


def _read_margin(text: str) -> Margin | None:
    without = re.sub(r"\b(?:gross )?(?:profit )?margins?\b", "profit", text, flags=re.IGNORECASE)
    return Margin(re.sub(r"(?<=\d) percent\b", "", without))


def _read_unit(text: str, units: frozenset[str]) -> PerUnit | None:
    found = re.search(r" per (\w+)\b", text, re.IGNORECASE)
    if not found or found[1].lower() not in units or len(re.findall(r"\bper\b", text)) > 1:
        return None
    rest = text[: found.start()] + text[found.end() :]
    total = re.sub(
        r"^(what (?:is|was|were|are)) (?:the |our )?(?:average |total |mean )?", r"\1 the total ", rest,
        flags=re.IGNORECASE,
    )  # fmt: skip
    return PerUnit(tuple(dict.fromkeys((total, rest))), found[1].lower())


# Ranks


def _read_rank(text: str) -> Ranked | None:
    run = rf"{_PLACE}(?:(?: ,)?(?: and| to| through)?(?: the)? {_PLACE})*"
    found = re.search(rf"\b({run})[ -](?=(\w+)(?: (\w+))?)", text, re.IGNORECASE)
    if not found:
        return None
    said = [(found[2].lower(),), (found[2].lower(), (found[3] or "").lower())]
    if not any(key in CUES and CUES[key].cue in ("top", "common") for key in said) or found[2].lower() in _ENDS:
        return None
    first, last = _places(found[1])
    if last == 1:
        return None  # `the first best` is no rank
    return Ranked((text[: found.start()] + text[found.end() :],), first, last)


def _places(run: str) -> tuple[int, int]:
    """Return the first and the last of places. Raises Unclear where one between them is left out."""
    numbers = [_PLACES.get(word) or int(word) for word in re.findall(rf"\b(?:{_PLACE}|\d+)\b", run.lower())]
    is_range = re.search(r"\b(?:to|through)\b", run, re.IGNORECASE) is not None
    if (is_range and len(numbers) != 2) or numbers != sorted(set(numbers)) or numbers[-1] > _HIGHEST_PLACE:
        raise Unclear("it is not clear which places are asked for")
    if not is_range and numbers[-1] - numbers[0] >= len(numbers):
        raise Unclear("it asks for places that do not follow each other")
    return numbers[0], numbers[-1]


def _read_places(text: str) -> Ranked | None:
    """Read `Which countries rank 4 to 6 by revenue?`, and `in third place by`."""
    place = rf"(?:\d{{1,2}}|{_PLACE})"
    run = rf"(?P<run>{place}(?:(?: ,)?(?: and| to| through)? {place})*)"
    named = r"(?:places?|positions?|ranks?|spots?|numbers?)"
    ranked = (
        rf"(?:ranks?|ranked) (?:in |as |at )?(?:{named} )?{run}|(?:in |on |at |as )?{named} {run}|in {run} {named}"
    )
    found = _whole(
        rf"(?:which|what) (?P<who>.+?) (?:(?:is|are|was|were|comes?|came) )?(?:{ranked.replace('?P<run>', '')}) "
        r"(?:by|for|in terms of) (?:the )?(?P<by>.+)",
        text,
    )
    if not found:
        return None
    places = re.search(run, found[0][found.end("who") : found.start("by")], re.IGNORECASE)
    if places is None:
        return None
    first, last = _places(places["run"])
    who, by = found["who"], found["by"]
    counted = re.sub(r"^(?:total )?number of ", "", by)
    asked = (f"which {who} has the most {counted}",) if counted != by else (
        f"what are the top {who} by {by}", f"which {who} has the highest {by}"
    )  # fmt: skip
    return Ranked(asked, first, last)


def _read_after(text: str) -> Ranked | None:
    """Read `the top 3 customers after the first`."""
    found = re.search(
        r"\b(?P<top>top|next) (?P<many>\w+) (?P<what>.+?) after the (?:first|best|top|(?:first|top) (?P<skip>\w+))$",
        text, re.IGNORECASE,
    )  # fmt: skip
    if not found:
        return None
    many, skip = _counted(found["many"]), _counted(found["skip"] or "one")
    if many is None or skip is None:
        return None
    return Ranked((f"{text[: found.start()]}top {found['what']}",), skip + 1, skip + many)


def _counted(word: str) -> int | None:
    return int(word) if word.isdecimal() else int(NUMBERS[word.lower()]) if word.lower() in NUMBERS else None


# `the second last` counts from the other end.
_ENDS = ("last", "first")


# Growth


def _read_growth(text: str) -> Growth | None:
    percent = re.search(r"\b(?:percentage|percent|per cent)\b", text, re.IGNORECASE) is not None
    if (frame := _read_most_grown(text)) is not None:
        return frame
    text = re.sub(
        r"^(?P<each>(?:in|for) each .+?)(?: ,)? (?P<rest>(?:by |how |what ).+)$", r"\2 \1", text, flags=re.I
    )
    how = r"(?:by )?(?:how much|what percentage|what percent|how many percent|how)"
    grew = _whole(rf"{how} (?:did|has|have) (?P<what>.+?) {_GROW}{_EACH.format(1)} {_SPAN}{_EACH.format(2)}", text)
    noun = grew or _whole(
        r"what (?:is|was) (?:the |our )?(?:percentage |percent |relative )?"
        rf"{_GROWTH} (?:of|in) (?P<what>.+?){_EACH.format(1)} {_SPAN}{_EACH.format(2)}",
        text,
    )
    behind = noun or _whole(
        rf"what (?:is|was) (?:the |our )?(?P<what>.+?) {_GROWTH}{_EACH.format(1)} {_SPAN}{_EACH.format(2)}", text
    )
    if behind is None:
        return None
    tells = ("percent",) if percent else ("change",) if grew else ("change", "percent")
    what, each = _bare(behind["what"]), behind["each1"] or behind["each2"] or ""
    if not each and (own := _whole(rf"each (?P<group>.+) (?P<what>{_MONEY})", what)):
        what, each = own["what"], f" for each {own['group']}"  # `each country's sales`
    return _growth(what, each, behind, tells)


_MONEY = rf"(?:{'|'.join(' '.join(words) for words, phrase in DEAL_CUES.items() if phrase.cue == 'money')})"
# Groups that each have a growth of their own, before or behind the periods.
_EACH = r"(?P<each{}> (?:(?:in|for|of|from|by|at|with) each|per|by) .+?)?"


def _growth(what: str, each: str, found: re.Match[str], tells: tuple[str, ...], top: str = "") -> Growth:
    earlier, later = _periods(found)
    counted = re.sub(r"^number of ", "", what)
    asked = ("how many",) if counted != what else _ASKED
    if re.search(_MEAN, what, re.IGNORECASE):
        asked = ("what was the",)
    return Growth(
        tuple((f"{ask} {counted}{each} {earlier}", f"{ask} {counted}{each} {later}") for ask in asked),
        (earlier, later),
        tells,
        is_count=counted != what,
        is_of_groups=each != "",
        top=top,
    )


def _read_most_grown(text: str) -> Growth | None:
    """Read which group grew most: `Which category's sales grew the most from 1996 to 1997?`"""
    grew = r"(?:grow|grew|grown|increase|increased|rise|rose|risen)"
    most = r"(?:the )?(?P<most>most|least|fastest)"
    noun = r"(?P<most>biggest|largest|highest|greatest|strongest|smallest|lowest) (?:growth|increase|rise)"
    patterns = (
        rf"(?:in |for )?(?:which|what) (?P<who>.+?) did (?P<what>.+?) {grew} {most} {_SPAN}",
        rf"(?:which|what) (?P<who>.+?) (?:had|has|saw|showed) the {noun} (?:in|of) (?P<what>.+?) {_SPAN}",
        rf"(?:which|what) (?P<who>.+?) {grew} {most} (?:in|by) (?P<what>.+?) {_SPAN}",
        rf"(?:which|what) (?P<who>.+) (?P<what>{_MONEY}) {grew} {most} {_SPAN}",
    )
    for pattern in patterns:
        if found := _whole(pattern, text):
            most_grown = found["most"].lower()
            top = "ASC" if most_grown in ("least", "smallest", "lowest") else "DESC"
            tells = ("percent", "change") if most_grown == "fastest" else ("change", "percent")
            return _growth(_bare(found["what"]), f" for each {found['who']}", found, tells, top)
    return None


def _read_more(text: str) -> Growth | Outgrown | None:
    found = _whole(
        rf"how (?P<ask>much|many) (?:more|fewer|less|higher|lower)(?P<is> (?:is|was|were))? (?P<what>.+?) {_THAN}",
        text,
    )
    if found:
        earlier, later = _periods(found)
        what = _bare(found["what"])
        asked = _ASKED if found["is"] else (f"how {found['ask']}",)
        if re.search(_MEAN, what, re.IGNORECASE):
            asked = ("what was the",)
        pairs = tuple((f"{ask} {what} {earlier}", f"{ask} {what} {later}") for ask in asked)
        return Growth(pairs, (earlier, later), ("change",), is_count=found["ask"].lower() == "many")
    found = _whole(rf"(?P<who>(?:which|what|how many) .+?) (?P<more>more|fewer|less)(?P<what> .+?)? {_THAN}", text)
    if found is None:
        return None
    earlier, later = _periods(found)
    asks = f"{found['who']} more than 1{found['what'] or ''}"
    operator = ">" if found["more"].lower() == "more" else "<"
    return Outgrown((f"{asks} {earlier}", f"{asks} {later}"), (earlier, later), operator)


def _periods(found: re.Match[str]) -> tuple[str, str]:
    """Return the earlier and the later period as they stand behind a plainer question; a part takes its year."""
    said = {name[0]: value for name, value in found.groupdict().items() if re.fullmatch(r"[ab]\d", name) and value}
    earlier, later = said["a"], said["b"]
    year = re.search(r"\d{4}$", later)
    if year and _whole(_OF_YEAR, earlier):
        earlier = f"{earlier} {year[0]}"
    if any(_whole(_OF_YEAR, each) and not _whole("last quarter", each) for each in (earlier, later)):
        raise Unclear("it is not clear which years the months belong to")
    if earlier.lower() == later.lower():
        raise Unclear("it compares a period with itself")
    return _when(earlier), _when(later)


def _when(period: str) -> str:
    return period if period.lower().startswith(("this", "last")) else f"in {period}"


# One thing but not another


def _read_but(text: str) -> ButNot | None:
    found = _whole(rf"(?P<has>(?:which|what|who|how many)\b.+?)(?: ,)? (?:but|and) {_DENIALS} (?P<lacks>.+)", text)
    if found is None:
        return None
    words, lacks = found["has"].split(), found["lacks"].split()
    if lacks[0].lower() in ("ever", "any", "a", "an", "the"):
        lacks = lacks[1:]
    verb = next((at for at in range(1, len(words)) if _is_verb(words[at])), None)
    if verb is None or not lacks or re.search(r"\b(?:but|and|or)\b", found["lacks"], re.IGNORECASE):
        return None
    while verb + 1 < len(words) and _is_verb(words[verb + 1]):
        verb += 1
    head, said = " ".join(words[:verb]), words[verb + 1 :]
    other = [*words[verb : verb + 1], *_lacking(said, lacks)]
    if _is_verb(lacks[0]) or (lacks[0].lower(),) in DEAL_CUES:
        other = lacks
    return ButNot(f"{head} never {' '.join(words[verb:])}", f"{head} never {' '.join(other)}")


def _lacking(said: Sequence[str], lacks: list[str]) -> list[str]:
    """Return what stands behind the verb of what rows lack: `in 2024` takes the place of `in 2023`, and the like."""
    if lacks[0].lower() in ("one", "ones", "anything") and len(lacks) > 1:
        lacks = lacks[1:]
    at = next((at for at, word in enumerate(said) if word.lower() in _PREPOSITIONS), len(said))
    if lacks[0].lower() in _PREPOSITIONS:
        places = [place for place, word in enumerate(said) if word.lower() == lacks[0].lower()]
        if len(places) != 1:
            raise Unclear("it is not clear what the rows must not have")
        behind = " ".join(said[places[0] + 1 :])
        then = re.match(_PERIOD, behind, re.IGNORECASE)
        is_time = re.fullmatch(_PERIOD, " ".join(lacks[1:]), re.IGNORECASE) is not None
        if is_time != (then is not None) or (then is None and re.search(r"\bin\b", behind)):
            raise Unclear("it is not clear what the rows must not have")
        rest = behind[then.end() :].split() if then else []
        return [*said[: places[0]], *lacks, *rest]
    if (at < len(said)) != any(word.lower() in _PREPOSITIONS for word in lacks):
        raise Unclear("it is not clear whether a condition holds for both")
    return lacks


# Letters of a word in `ed` that is rather no verb: red, shed.
_MOST_NO_VERB = 4


def _is_verb(word: str) -> bool:
    lower = word.lower()
    phrase = DEAL_CUES.get((lower,))
    return (
        lower in _AUXILIARIES
        or (lower.endswith("ed") and len(word) > _MOST_NO_VERB)
        or (phrase is not None and phrase.cue in ("deal", "serve"))
    )


def _whole(pattern: str, text: str) -> re.Match[str] | None:
    return re.fullmatch(pattern, text, re.IGNORECASE)


def _bare(words: str) -> str:
    return re.sub(r"^total ", "", _ARTICLES.sub("", words), flags=re.IGNORECASE)


# Words that a frame is known by, with its reader; the first that reads a frame counts.
_READERS: tuple[tuple[str, Callable[[str], Frame | None]], ...] = (
    (r"after the", _read_after),
    (r"ranks?|ranked|places?|positions?|spots?|numbers?", _read_places),
    ("|".join(_PLACES), _read_rank),
    (r"more|fewer|less|higher|lower", _read_more),
    (rf"{_GROW}|{_GROWTH}", _read_growth),
    (_SHARE, _read_share),
    (r"ratio", _read_ratio),
    (r"margins?", _read_margin),
    (r"but|and", _read_but),
)
