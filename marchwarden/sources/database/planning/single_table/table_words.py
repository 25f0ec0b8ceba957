"""Words of questions over one table. Guesses, written from half of the tables of WikiTableQuestions' dev set."""

from __future__ import annotations

import re

from marchwarden.text.numbers import SMALL_NUMBERS

# Words that say nothing about rows, beside those of question_words.py.
LIGHT = frozenset(
    {
        "according", "achieve", "achieved", "actually", "along", "also", "altogether", "amount", "and", "appear",
        "appeared", "appears", "are", "be", "been", "but", "came", "case", "chart", "come", "compete", "competed",
        "did", "do", "does", "during", "earn", "earned", "ever", "find", "finish", "finished", "finishes", "from",
        "game", "games", "get", "give", "go", "had", "has", "have", "having", "he", "held", "here", "how", "in",
        "included", "including", "into", "is", "list", "listed", "lists", "made", "many", "me", "much", "name",
        "names", "number", "numbers", "of", "on", "out", "own", "people", "person", "place", "placed", "play",
        "played", "player", "players", "receive", "received", "said", "score", "scored", "season", "seasons",
        "she", "show", "shown", "single", "table", "taken", "team", "teams", "tell", "that", "the", "there",
        "this", "time", "took", "total", "used", "was", "went", "were", "what", "when", "where", "which",
        "who", "whom", "whose", "win", "wins", "with", "won", "year", "years",
    }
)  # fmt: skip

HIGHEST = (
    "most|highest|largest|greatest|biggest|maximum|longest|tallest|heaviest|oldest|best|latest|fastest|hottest|"
    "most expensive|widest|deepest|top(?! (?:\\d|two|three|four|five|six|seven|eight|nine|ten))"
)
LOWEST = (
    "least|lowest|smallest|fewest|minimum|shortest|lightest|youngest|worst|earliest|slowest|coldest|cheapest|"
    "narrowest|shallowest"
)
EXTREME = re.compile(rf"(?<!at )\b(?:(?P<high>{HIGHEST})|(?P<low>{LOWEST}))\b")
# Words of columns that an adjective is about, where no column is named.
MEASURES: dict[str, tuple[str, ...]] = {
    "longest": ("length", "duration", "distance", "span"),
    "shortest": ("length", "duration", "distance", "height"),
    "tallest": ("height", "floors"),
    "heaviest": ("weight",),
    "lightest": ("weight",),
    "largest": ("area", "size", "population", "capacity"),
    "biggest": ("area", "size", "population", "capacity"),
    "smallest": ("area", "size", "population", "capacity"),
    "oldest": ("age", "built", "completed", "founded", "born", "birth", "year"),
    "youngest": ("age", "born", "birth"),
    "weighs": ("weight",),
    "placed": ("pos", "position", "rank", "place", "finish"),
    "ranked": ("rank", "pos", "position"),
    "rank": ("rank", "pos", "position"),
    "ranks": ("rank", "pos", "position"),
    "finished": ("finish", "pos", "position", "rank", "place"),
    "finish": ("finish", "pos", "position", "rank", "place"),
    "money": ("gross", "earnings", "prize", "winnings", "money"),
    "populated": ("population",),
    "people": ("population",),
    "crowd": ("attendance",),
    "attended": ("attendance",),
    "weighed": ("weight",),
    "grossed": ("gross",),
    "lasted": ("duration", "length"),
    "scored": ("points", "score"),
    "dense": ("density",),
    "fastest": ("time", "speed"),
    "slowest": ("time", "speed"),
    "populous": ("population",),
    "latest": ("year",),
    "earliest": ("year",),
    "expensive": ("price", "cost"),
    "taller": ("height",),
    "longer": ("length", "duration", "distance"),
    "shorter": ("length", "height", "duration"),
    "larger": ("area", "size", "population", "capacity"),
    "bigger": ("area", "size", "population", "capacity"),
    "smaller": ("area", "size", "population", "capacity"),
    "heavier": ("weight",),
    "older": ("age",),
    "younger": ("age",),
    "long": ("length", "duration"),
    "tall": ("height",),
    "old": ("age",),
    "medals": ("total",),
    "medal": ("total",),
}
# Columns that a question word asks for.
ASKED: dict[str, tuple[str, ...]] = {
    "who": ("name", "player", "driver", "winner", "candidate", "athlete", "artist", "performer", "rider", "person"),
    "whom": ("opponent", "opponents"),
    "where": ("location", "venue", "place", "city", "site", "country", "stadium"),
    "when": ("date", "year"),
}
SPELLED = {word: number for number, word in enumerate(SMALL_NUMBERS[1:13], start=1)}
COMPARED = {
    "more than": ">", "greater than": ">", "higher than": ">", "over": ">", "above": ">", "at least": ">=",
    "less than": "<", "fewer than": "<", "lower than": "<", "under": "<", "below": "<", "at most": "<=",
    "larger than": ">", "exactly": "=", "no more than": "<=", "no less than": ">=", "longer than": ">",
    "taller than": ">", "older than": ">", "bigger than": ">", "heavier than": ">", "shorter than": "<",
    "smaller than": "<",
    "younger than": "<", "faster than": "<", "slower than": ">", "better than": ">",
    "after": ">", "before": "<", "since": ">=", "until": "<=",
}  # fmt: skip
# Names of rows that sum the others up.
SUMS = frozenset({"total", "totals", "grand total", "sum"})
# Words that change what a question asks: where no family has read them, it was not understood.
SIGNALS = frozenset(
    {
        "after", "before", "next", "previous", "prior", "not", "no", "same", "other", "another", "than", "most",
        "least", "more", "less", "fewer", "first", "last", "top", "bottom", "or", "consecutive",
        "between", "difference", "average", "below", "above", "until", "besides", "except", "without", "never",
        "twice", "once", "long", "either", "neither", "total", "combined", "following", "didn't", "doesn't",
        "wasn't", "outside", "percentage", "percent", "how", "why", "if", "longer", "higher", "lower", "since",
        "row", "then", "half", "excluding", "whole", "per", "every"
    }
)  # fmt: skip
# Heads of columns whose numbers name or order rows, so that nobody sums them up.
LABELS = ("year", "rank", "position", "pos", "no", "number", "season", "id", "seed", "round", "week", "place", "date")
# Words for the same kind of thing, as stems.
SAME: dict[str, tuple[str, ...]] = {
    "countri": ("nation", "national"),
    "nation": ("countri", "national"),
    "state": ("provinc",),
    "stadium": ("venu", "arena"),
    "venu": ("stadium", "arena", "locat"),
    "movi": ("film", "titl"),
    "film": ("movi", "titl"),
    "song": ("titl", "track"),
    "album": ("titl",),
    "book": ("titl",),
    "locat": ("venu", "place", "site"),
    "competit": ("tournament", "event"),
    "tournament": ("competit", "championship"),
    "driver": ("rider", "racer"),
    "racer": ("driver", "rider"),
    "runner": ("athlet", "name"),
    "athlet": ("name",),
    "player": ("name",),
    "person": ("name",),
    "build": ("name",),
}
