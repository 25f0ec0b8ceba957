"""Read the parts of a question that sums up rows: who or what is asked for, the number, the groups, the conditions.

Every word must be a part, as for the other readers; which tables are meant is decided later (`sum_planning`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from marchwarden.sources.database.planning.condition_reading import YEAR
from marchwarden.sources.database.planning.draft import Unclear
from marchwarden.sources.database.planning.over_joins.deal_words import DEAL_CUES, NAMED_FIRST
from marchwarden.sources.database.planning.question_links import Link, Token
from marchwarden.sources.database.planning.question_words import Phrase
from marchwarden.sources.database.schema import Table, words_of_name


@dataclass(frozen=True)
class Said:
    """A value or a time that the question names."""

    link: Link
    beside: Table | None = None
    """Table that is named next to it: `customers from Berlin`, `jazz tracks`."""
    is_bought: bool = False
    """True where it comes behind a verb of buying or selling."""
    is_denied: bool = False
    """True where it comes behind `never`."""


@dataclass
class Asked:
    """The parts of a question."""

    form: Literal["", "much", "many", "which"] = ""
    function: str = ""
    """`AVG` or `SUM`, where the question says so."""
    group: Link | None = None
    """Table or column whose rows are told apart."""
    is_every: bool = False
    """True where every group is asked for, and not only the highest."""
    top: tuple[str, int] | None = None
    """`DESC` or `ASC`, and how many groups."""
    thing: Link | None = None
    """Table whose rows are counted."""
    money: str = ""
    """`all` where a noun for money is said, `each` where it is the money of one sale, `profit`, `loss` or `worth`."""
    deal: str = ""
    """`sell`, `buy`, `earn` (bring in money), `gain` (earn it), `spend` or `pay`."""
    deal_place: int = -1
    """Number of the first word of that verb in the question."""
    serves: str = ""
    """`close` for a verb such as `handle`, which only who is named in a row does; `far` for `have` or `get`."""
    is_best_selling: bool = False
    """True where the groups are compared by the pieces that were sold."""
    units: bool = False
    often: bool = False
    is_who: bool = False
    measure: Link | None = None
    """Words of a column of numbers."""
    conditions: list[Said] = field(default_factory=list)
    mentions: list[Table] = field(default_factory=list)
    """Tables that are named beside these: `our customers`."""
    span: str = ""
    """`month`, `quarter` or `year`, where the sums of each are told apart."""
    is_span_of_sums: bool = False
    """True for `monthly revenue`, whose mean is one of months, and not of rows."""
    limit: tuple[str, str] | None = None
    """Comparison that the number of a group must pass, and what it is compared with."""
    is_denied: bool = False
    """True where the groups are asked for that have no such row."""
    is_counted: bool = False
    """True where the number of those groups is asked for."""
    deed: Link | None = None
    """Verb that names a table: `borrowed`."""
    minus: Link | None = None
    """Column that is taken off the measure."""


_EXPECTED = Literal["", "group", "thing"]


class SumReader:
    """Reads links from left to right."""

    def __init__(self, links: Sequence[Link], tokens: Sequence[Token], tables: Sequence[Table]) -> None:
        self.links, self.tokens, self.tables = links, tokens, tables
        self.asked = Asked()
        self.expects: _EXPECTED = ""
        self.at = 0
        self.number = 0
        """Number of groups that comes before their order: `which 3 customers`."""

    def read(self) -> Asked:
        """Return the parts. Raises Unclear where a word is none, or a part is said twice."""
        while self.at < len(self.links):
            link = self.links[self.at]
            self.at += 1
            self._read(link)
        if self.expects or self.number:
            raise Unclear("it does not say what the groups are")
        return self.asked

    def _read(self, link: Link) -> None:
        asked = self.asked
        phrase = self._phrase_of(link)
        cue = phrase.cue if phrase else link.kind
        is_first = link.place == 0 or (link.place == 1 and self.tokens[0].lower in ("in", "for"))
        if link.place == 0 and link.words == "what" and not self._names_next(link):
            self._set_form("much")  # `what did we earn`
        elif is_first and link.words in ("which", "what", "who"):
            asked.form, asked.is_who = "which", link.words == "who"
            self.expects = "" if asked.is_who else "group"
        elif cue == "ask" and link.place == 0:
            pass
        elif cue == "amount":
            self._set_form("much")
            following = self._next()
            if following and following.kind in ("value", "table") and self._are_close(link, following):
                raise Unclear(f"it is not clear whether pieces or money of {following.words} are summed up")
        elif cue == "count" and (
            link.place == 0 or asked.top is not None or self.expects == "group" or asked.function == "AVG"
        ):
            if asked.form == "":
                asked.form = "many"
            self.expects = "thing"
        elif link.words == "by" and self.at < len(self.links) and self.links[self.at].kind == "value":
            pass  # `tracks by Iron Maiden`
        elif (cue == "each" or cue == "in") and self._next_cue() == "span":
            pass
        elif cue == "each" or (cue == "in" and link.words == "by"):
            if asked.group is not None and (asked.top is None or link.words != "by"):
                raise Unclear(f"it is not clear what “{link.words}” adds to each {asked.group.words}")
            self.expects = "group" if asked.group is None else ""
            asked.is_every = asked.is_every or asked.group is None
        elif cue == "aggregate" and phrase and phrase.value in ("AVG", "SUM"):
            self._read_aggregate(phrase.value)
        elif cue == "top" and phrase and phrase.columns == ("sold",):
            asked.deal, asked.deal_place, asked.is_best_selling = "sell", link.place, True
            # `the top 5 best-selling products`
            if self.expects != "group" or asked.top is None or asked.top[0] != phrase.value:
                self._read_top(phrase.value)
        elif cue == "top" and phrase and not phrase.columns:
            self._read_top(phrase.value)
        elif cue == "deal" and phrase:
            if asked.deal and asked.deal != phrase.value:
                raise Unclear(f"it is not clear whether rows are {asked.deal} or {phrase.value}")
            asked.deal, asked.deal_place = phrase.value, link.place
        elif cue == "money" and phrase:
            self._read_money(link, phrase)
        elif cue == "span" and phrase:
            self._read_span(link, phrase.value)
        elif cue == "not":
            self._read_not(link)
        elif cue == "compare" and phrase and not phrase.columns:
            self._read_limit(phrase.value)
        elif link.kind == "number" and (widens := self._next()) and widens.words in ("or more", "or less"):
            self.at -= 1
            self._read_limit(widens.phrase.value if widens.phrase else "")
            self.at += 1
        elif cue == "difference":
            self._read_difference(link)
        elif link.is_deed:
            if asked.deed is not None or asked.deal:
                raise Unclear(f"it is not clear what “{link.words}” adds")
            asked.deed = link
        elif cue in ("serve", "unit", "often"):
            if cue == "serve" and phrase:
                asked.serves = phrase.value or asked.serves or "far"
            if phrase and cue == "often" and phrase.value:
                raise Unclear(f"it is not clear whether it was at least or exactly {link.words}")
            asked.units = asked.units or cue == "unit"
            asked.often = asked.often or cue == "often"
        elif (
            link.kind == "number"
            and (self.expects == "group" or self._next_cue() == "top")
            and link.words.isdecimal()
            and int(link.words) <= 100
        ):
            self.number = int(link.words)
        elif cue in ("value", "text", "period") or (link.kind == "number" and YEAR.fullmatch(link.words)):
            self._read_condition(link)
        elif cue == "table":
            self._read_table(link)
        elif cue == "column":
            self._read_column(link)
        elif (
            cue == "in"
            or link.words == "in"
            or (cue == "where" and link.words in ("with", "that", "who", "which", "have", "has", "had"))
        ):
            pass
        elif cue in ("and", "comma"):
            if not asked.conditions:
                raise Unclear(f"it is not clear what “{link.words}” joins")
        else:
            raise Unclear(f"it is not clear what “{link.words}” says of the sum")

    def _read_span(self, link: Link, span: str) -> None:
        if self.asked.span:
            raise Unclear(f"it is not clear what “{link.words}” adds to each {self.asked.span}")
        self.asked.span, self.asked.is_span_of_sums = span, link.words.endswith(("ly", "annual"))
        self.asked.is_every = self.asked.is_every or self.expects != "group"
        self.expects = ""

    def _read_not(self, link: Link) -> None:
        asked = self.asked
        if (
            asked.is_denied
            or asked.deed
            or asked.serves == "close"
            or asked.limit
            or asked.top
            or asked.form in ("", "much")
        ):
            raise Unclear(f"it is not clear what “{link.words}” denies")
        if asked.deal and link.words != "nothing":
            raise Unclear(f"it is not clear what “{link.words}” denies")
        self._choose_groups()
        asked.is_denied, asked.serves = True, ""

    def _read_limit(self, operator: str) -> None:
        """Read the number that the sum of a group is compared with: `more than two orders`, `at least twice`."""
        number = self._next()
        if self.asked.limit or self.asked.top or self.asked.is_denied or number is None:
            raise Unclear("it is not clear what is compared")
        phrase = self._phrase_of(number)
        if phrase and phrase.cue == "often" and phrase.value:
            told, self.asked.often = phrase.value, True
        elif number.kind == "number" and (number.words.isdecimal() or number.words.replace(".", "", 1).isdecimal()):
            told = number.words
        else:
            raise Unclear("it is not clear what is compared")
        self.at += 1
        self._choose_groups()
        self.asked.limit = (operator, told)

    def _choose_groups(self) -> None:
        """Take what was to be counted for the groups of which some are asked for: `how many customers never`."""
        asked = self.asked
        if asked.form != "many" or asked.is_counted:
            return
        if asked.thing is None and len(asked.conditions) == 1 and asked.conditions[0].link.kind == "value":
            # `how many dentists have never`: the rows that have the value.
            link = asked.conditions[0].link
            tables = [table for table in self.tables if table.name in {column.table for column in link.values}]
            asked.thing = Link("table", link.words, link.place, tables=tuple(tables)) if len(tables) == 1 else None
        if asked.thing is None:
            raise Unclear("it is not clear what is counted")
        asked.group, asked.thing, asked.is_counted = asked.thing, None, True
        self.expects = ""

    def _read_difference(self, link: Link) -> None:
        """Read `difference between price and cost`, and `price minus cost`."""
        asked = self.asked
        if link.words != "minus":
            first, joint = self._next(), self.links[self.at + 1 : self.at + 2]
            if first is None or first.kind != "column" or not joint or joint[0].words != "and" or asked.measure:
                raise Unclear(f"it is not clear what the “{link.words}” is")
            asked.measure = first
            self.at += 2
        other = self._next()
        if other is None or other.kind != "column" or asked.measure is None or asked.minus is not None:
            raise Unclear(f"it is not clear what the “{link.words}” is")
        asked.minus = other
        self.at += 1

    def _phrase_of(self, link: Link) -> Phrase | None:
        """Return the cue of a link; for a name that is a verb of dealing, too, where no name is expected."""
        key = tuple(link.words.lower().split())
        deal = DEAL_CUES.get(key)
        if deal is None or link.kind not in ("table", "column"):
            return link.phrase
        if link.kind == "table" and (self.expects == "thing" or deal.cue == "deal"):
            return None
        if link.kind == "column" and (self.expects == "group" or link.words in NAMED_FIRST):
            return None
        if deal.cue == "deal" and self.expects:
            return None
        return deal

    def _names_next(self, link: Link) -> bool:
        """Return whether a name comes right behind: `what customers`, and not `what did customers spend`."""
        following = self._next()
        is_name = following is not None and (
            following.kind in ("table", "column", "value") or self._next_cue() == "span"
        )
        return following is not None and is_name and self._are_close(link, following)

    def _set_form(self, form: Literal["much", "many"]) -> None:
        if self.asked.form:
            raise Unclear("it asks for two things")
        self.asked.form = form

    def _read_aggregate(self, function: str) -> None:
        if self.asked.function and self.asked.function != function:
            raise Unclear("it asks for a sum and for a mean")
        self.asked.function = function
        if self.expects == "group":
            self.expects = ""  # `customers by total revenue`
            self.asked.is_every = False

    def _read_top(self, direction: str) -> None:
        if self.asked.top is not None:
            raise Unclear("it asks for two different orders")
        number = 1
        following = self._next()
        if following and following.kind == "number" and following.words.isdecimal() and int(following.words) <= 100:
            self.at += 1
            number = int(following.words)
        if self.expects:
            raise Unclear("it is not clear what the order is of")
        if self.number:
            number, self.number = self.number, 0
        self.asked.top = (direction, number)
        is_told = (
            self.asked.group is not None
            or self.asked.span
            or (self.asked.is_who and (self.asked.deal or self.asked.serves))
        )
        if not is_told:
            self.expects = "group"  # `the top 5 customers`
        elif (following := self._next()) is not None and following.kind == "value":
            self.asked.units = True  # `sold the most tea`
        elif (
            self._next_cue() not in ("money", "deal", "often", "unit", "in", "aggregate", "difference", "")
            and not self.asked.often
        ):
            self.expects = "thing"  # `the most orders`

    def _next_cue(self) -> str:
        if (link := self._next()) is None:
            return ""
        phrase = self._phrase_of(link)
        return phrase.cue if phrase else link.kind if link.kind in ("table", "column") else "in"

    def _read_money(self, link: Link, phrase: Phrase) -> None:
        if self.asked.money:
            raise Unclear(f"it is not clear what “{link.words}” adds")
        before = self.links[self.at - 2].phrase if self.at > 1 else None
        if link.words == "sales" and before is not None and before.cue == "top":
            raise Unclear("it is not clear whether the number of sales or their money is meant")
        self.asked.money = phrase.value or "all"
        if self.expects == "group":
            self.expects = ""  # `the top 5 customers by revenue`
            self.asked.is_every = False

    def _read_table(self, link: Link) -> None:
        if len(link.tables) != 1:
            raise Unclear(f"“{link.words}” may be {' or '.join(table.name for table in link.tables)}")
        if self.expects == "group":
            self.asked.group, self.expects = link, ""
        elif self.expects == "thing" or (self.asked.thing is None and self._counts_rows()):
            if self.asked.thing is not None:
                raise Unclear(f"it is not clear whether {self.asked.thing.words} or {link.words} are counted")
            self.asked.thing, self.expects = link, ""
        else:
            self.asked.mentions.append(link.tables[0])

    def _counts_rows(self) -> bool:
        """Return whether a table that comes next is the one whose rows are counted."""
        return (self.asked.form == "many" and self.asked.measure is None) or bool(
            self.asked.limit or self.asked.is_denied
        )

    def _read_column(self, link: Link) -> None:
        if self.expects == "group":
            self.asked.group, self.expects = link, ""
        elif self.expects == "thing" and self._sums_up(link):
            # `how many visitors`, where each row says how many.
            self.asked.form, self.asked.function, self.asked.measure, self.expects = "much", "SUM", link, ""
        elif self.expects == "thing":
            raise Unclear(f"it is not clear whether each {link.words} counts once")
        elif link.words == "total" and not self.asked.function and self.asked.measure is None and self._counts_on():
            self.asked.function = "SUM"  # `total sales`, where a column has that name
        elif any(column.is_number for column in link.columns):
            if self.asked.measure is not None:
                raise Unclear(f"it is not clear whether {self.asked.measure.words} or {link.words} is asked for")
            self.asked.measure = link
            if self.asked.limit and self.links[self.at - 2].words != "in":
                raise Unclear(f"it is not clear whether one {link.words} or the sum of them is compared")
            if self.asked.minus is None and self._next_cue() == "difference":
                return
            if self.asked.top is not None and self.asked.group is not None:
                raise Unclear(f"it is not clear whether one {link.words} or the sum of them is the highest")
        else:
            raise Unclear(f"it is not clear what “{link.words}” says of the sum")

    def _sums_up(self, link: Link) -> bool:
        counts = [
            column for column in link.columns if column.is_number and words_of_name(column.name)[-1].endswith("s")
        ]
        if self.asked.function == "AVG":
            return False
        return self.asked.form == "many" and link.is_exact and len(counts) == len(link.columns) == 1

    def _counts_on(self) -> bool:
        """Return whether a noun for a number comes next."""
        following = self._next()
        if following is None:
            return False
        phrase = self._phrase_of(following)
        return (phrase is not None and phrase.cue == "money") or following.kind == "column"

    def _read_condition(self, link: Link) -> None:
        if self.expects == "group":
            # `which German customer`: the group comes behind its condition.
            following = self._next()
            if following is None or following.kind != "table":
                raise Unclear(f"it is not clear what “{link.words}” is")
        if self.expects == "thing" and link.kind == "value" and self._next_cue() != "table":
            self.expects = ""  # `how many desk lamps`
        beside = self._beside(link)
        self.asked.conditions.append(Said(link, beside, bool(self.asked.deal), self.asked.is_denied))

    def _beside(self, link: Link) -> Table | None:
        """Return the table that is named right behind a value, or before it with no more than `from the` between."""
        if link.kind != "value":
            return None
        following = self._next()
        if (
            following
            and following.kind == "table"
            and len(following.tables) == 1
            and self._are_close(link, following)
        ):
            return following.tables[0]
        behind = link
        for each in reversed(self.links[: self.at - 1]):
            if not self._are_close(each, behind):
                return None
            if each.kind == "table":
                return each.tables[0] if len(each.tables) == 1 else None
            if each.words == "by" or not (each.words == "in" or (each.phrase and each.phrase.cue == "in")):
                return None
            behind = each
        return None

    def _next(self) -> Link | None:
        return self.links[self.at] if self.at < len(self.links) else None

    def _are_close(self, one: Link, other: Link) -> bool:
        """Return whether no more than articles stand between two links: in `albums does Queen have` a verb does."""
        end = one.place + (1 if one.kind == "text" else len(one.words.split()))
        return all(token.lower in _ARTICLES for token in self.tokens[end : other.place])


_ARTICLES = frozenset({"the", "a", "an", "our", "all"})


def read_parts(links: Sequence[Link], tokens: Sequence[Token], tables: Sequence[Table]) -> Asked:
    """Return the parts of a question, whose tokens say what stands between its links. Raises Unclear."""
    return SumReader(links, tokens, tables).read()
