"""English words that say what a question wants of its tables: counts, means, orders, comparisons, negations.

Guesses, written from questions over the ten databases of Spider's development set that stand at odd places in the
order of their names. Words of other languages are unknown here, so such questions end in an honest gap.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from marchwarden.text.numbers import SMALL_NUMBERS

Cue: TypeAlias = Literal[
    "ask", "count", "distinct", "aggregate", "top", "common", "compare", "between", "average", "order", "descending",
    "ascending", "each", "not", "or", "both", "and", "comma", "where", "in", "like", "starts", "ends", "named",
    "amount", "deal", "money", "serve", "unit", "often", "span", "difference",
]  # fmt: skip


@dataclass(frozen=True)
class Phrase:
    cue: Cue
    value: str = ""
    columns: tuple[str, ...] = ()
    """Words of columns that are meant, where the phrase says what is compared: `older` means an age."""


_AGE = ("age",)
_LENGTH = ("length", "duration", "pages")
_PRICE = ("price", "cost", "amount", "fee")
_PHRASES: dict[Phrase, str] = {
    Phrase("ask"): "what is, what are, what was, what were, which are, which were, show, show me, list, "
    "find, find out, give, give me, return, tell, tell me, what, display, report, return me, please show, compute, "
    "calculate, please list, "
    "select, name",
    Phrase("count"): "how many, number of, count the number of, count, the number of, total number of, numbers of, "
    "count of, find the number of, give the number of, return the number of, what is the number of, "
    "what is the total number of, find the total number of, the total number of, what is the count of, the count of",
    Phrase("distinct"): "distinct, different, unique",
    Phrase("aggregate", "AVG"): "average, mean, avg, on average",
    Phrase("amount"): "how much, how much money",
    Phrase("aggregate", "SUM"): "total, sum, sum of, combined, in total, altogether",
    Phrase("aggregate", "MAX"): "maximum, max",
    Phrase("aggregate", "MIN"): "minimum, min",
    Phrase("top", "DESC"): "highest, largest, greatest, biggest, most, top, maximal, best",
    Phrase("top", "ASC"): "lowest, smallest, least, fewest, minimal",
    Phrase("top", "DESC", _AGE): "oldest, eldest",
    Phrase("top", "ASC", _AGE): "youngest",
    Phrase("top", "DESC", _LENGTH): "longest",
    Phrase("top", "ASC", _LENGTH): "shortest",
    Phrase("top", "DESC", ("height",)): "tallest",
    Phrase("top", "DESC", ("weight",)): "heaviest",
    Phrase("top", "ASC", ("weight",)): "lightest",
    Phrase("top", "ASC", _PRICE): "cheapest, least expensive",
    Phrase("top", "DESC", _PRICE): "most expensive, priciest",
    Phrase("top", "DESC", ("population",)): "most populated, most populous",
    Phrase("top", "DESC", ("date", "year", "time")): "latest, most recent, newest, most recently, last",
    Phrase("top", "ASC", ("date", "year", "time")): "earliest, first",
    Phrase("common", "DESC"): "most common, most popular, most frequent, most frequently used, most commonly used",
    Phrase("common", "ASC"): "least common, least popular, least frequent",
    Phrase("compare", ">"): "more than, greater than, larger than, bigger than, higher than, over, above, exceeding, "
    "exceeds, longer than, later than",
    Phrase("compare", ">="): "at least, no less than, greater than or equal to, or more, or above, "
    "or after, or later",
    Phrase("compare", "<"): "less than, smaller than, lower than, fewer than, below, under, shorter than",
    Phrase("compare", "<="): "at most, no more than, less than or equal to, or less, or below, or before, or earlier",
    Phrase("compare", ">", _AGE): "older than, who are older than",
    Phrase("compare", "<", _AGE): "younger than",
    Phrase("compare", ">", ("height",)): "taller than",
    Phrase("compare", ">", ("weight",)): "heavier than",
    Phrase("compare", "<", ("weight",)): "lighter than",
    Phrase("compare", ">", ("year", "date")): "after",
    Phrase("compare", "<", ("year", "date")): "before, earlier than, prior to",
    Phrase("compare", ">=", ("year", "date")): "since",
    Phrase("compare", "="): "equal to, equals, exactly, the same as",
    Phrase("between"): "between",
    Phrase("average", ">"): "above the average, above average, higher than the average, greater than the average, "
    "larger than the average, more than the average, over the average, larger than average, greater than average",
    Phrase("average", "<"): "below the average, below average, lower than the average, less than the average, "
    "smaller than the average, lower than average, smaller than average, less than average",
    Phrase("average", ">", _AGE): "older than average, older than the average",
    Phrase("average", "<", _AGE): "younger than average, younger than the average",
    Phrase("order"): "ordered by, sorted by, order by, sort by, sorted in, ordered in, in the order of, in order of, "
    "ordered, sorted, order, listed in, arranged by, ranked by, sort, in",
    Phrase("descending"): "descending order, descending order of, in descending order of, in descending order, "
    "descending, from high to low, decreasing order, in decreasing order of, from highest to lowest, "
    "in decreasing order, reverse alphabetical order, from the highest to the lowest, in reverse alphabetical order, "
    "from most to least, from largest to smallest, "
    "descending alphabetical order, from the oldest to the youngest, "
    "from oldest to youngest, lexicographically descending order",
    Phrase("ascending"): "ascending order, ascending order of, in ascending order of, in ascending order, ascending, "
    "from low to high, increasing order, in increasing order of, in increasing order, alphabetical order, "
    "in alphabetical order, alphabetically, in alphabetical order of, alphabetical order of, lexicographical order, "
    "lexicographic order, in lexicographical order, from youngest to oldest, from the youngest to the oldest, "
    "from lowest to highest, from the lowest to the highest, from smallest to largest, ascending alphabetical order, "
    "in ascending alphabetical order",
    Phrase("each"): "each, for each, of each, in each, per, by each, from each, every, for every, in every, "
    "for each of the, with each, at each, on each, using each, to each, under each",
    Phrase("not"): "not, no, without, without any, never, don't, doesn't, didn't, isn't, aren't, except, excluding, "
    "do not have, does not have, do not have any, did not have, have no, has no, with no, do not, did not, does not, "
    "not used by, not used in, other than, have not, has not, has never, have never, is not, are not, haven't",
    Phrase("or"): "or, either",
    Phrase("both"): "both, and also, as well as also",
    Phrase("and"): "and, but, as well as, along with, together with, also, &",
    Phrase("where"): "whose, with, where, that, which, who, having, have, has, had, when",
    Phrase("in"): "from, at, on, during, by, for, of",
    Phrase("like"): "contains, containing, contain, including the word, with the word, has the word, the substring, "
    "the letter, contains the letter, containing the word, containing the letter, has substring, with substring, "
    "contain the letter, contain the word, contains the word, contains the substring, contain the substring, "
    "includes, with the letter, have the substring, has the substring, with the substring, have the word",
    Phrase("starts"): "starts with, start with, starting with, begins with, begin with, beginning with, "
    "starts with the letter, start with the letter, starting with the letter, begins with the letter",
    Phrase("ends"): "ends with, end with, ending with",
    Phrase("named"): "named, called, titled, entitled",
}  # fmt: skip

CUES: dict[tuple[str, ...], Phrase] = {
    tuple(words.split()): phrase for phrase, listed in _PHRASES.items() for words in listed.split(", ")
}
LONGEST_CUE = max(map(len, CUES))

# Words that say nothing about rows. `in` and `of` are cues; what a table's rows do (live, hold, use) is theirs alone.
FILLERS = frozenset(
    {
        "the", "a", "an", "all", "any", "is", "are", "was", "were", "be", "been", "being", "do", "does", "did",
        "we", "you", "i", "there", "their", "its", "his", "her", "them", "they", "it", "this", "these", "those",
        "to", "as", "me", "please", "of", "for", "in", "on", "at", "by", "can", "could", "would", "will",
        "shall", "if", "so", "such", "some", "then", "now", "just", "only", "our", "your", "my", "one's", "s",
        "many", "much", "exist", "exists", "existing", "available", "recorded", "listed", "belong", "belongs",
        "belonging", "corresponding", "respective", "respectively", "associated", "together", "currently",
        "used", "use", "uses", "using", "made", "make", "makes", "happened", "happen", "occurred", "occur",
        "occurring", "held", "hold", "holds", "located", "live", "lives", "living", "lived", "work", "works",
        "worked", "working", "play", "plays", "played", "attend", "attended", "come", "comes", "came", "named",
        "called", "value", "values", "record", "records", "information", "among", "own", "owns", "owned",
        "owning", "done", "went", "perform", "performed", "produce", "produced", "offer", "offered", "operate",
        "operated", "teach", "teaches", "taught", "speak", "speaks", "spoken", "playing", "conducted", "bought",
        "received", "across", "given", "take", "takes", "took", "taken", "participate", "participated",
        "participating", "involve", "involved", "contained", "sold", "served", "serve", "serves", "database",
        "table", "dataset", "data", "row", "rows", "entry", "entries", "overall", "ever", "get", "gets", "got",
        "possible", "kind", "kinds", "placed", "entered", "still", "already", "here", "based", "situated", "anything",
        "appear", "appears", "appeared"
    }
)  # fmt: skip

# Those of them that say what was done with a row: a table of products does not tell which were sold.
DEEDS = frozenset({"sold", "bought"})

NUMBERS = {word: str(number) for number, word in enumerate(SMALL_NUMBERS[1:13], start=1)}

# Words for the same thing, in the forms in which they are compared (stems).
SYNONYMS: dict[str, tuple[str, ...]] = {
    "nation": ("country", "nationality"),
    "countri": ("nationality", "citizenship"),
    "citizenship": ("country", "nationality"),
    "titl": ("name",),
    "name": ("title",),
    "area": ("surface area",),
    "compani": ("company",),
    "cost": ("price",),
    "price": ("cost",),
    "salari": ("salary", "pay"),
    "phone": ("phone number", "phone"),
    "email": ("email address",),
    "peopl": ("person",),
    "person": ("people",),
    "movi": ("film",),
    "film": ("movie",),
    "kid": ("child",),
    "children": ("child",),
    "num": ("number",),
    "sex": ("gender",),
    "gender": ("sex",),
    "born": ("birth",),
    "locat": ("place",),
    "citi": ("town",),
    "town": ("city",),
    "job": ("role", "position", "profession"),
    "leader": ("head of state",),
    "independ": ("indep",),
}
