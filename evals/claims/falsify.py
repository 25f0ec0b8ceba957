"""Pairs made from real sentences: false claims by one change of meaning, true ones by a change of wording.

Each kind is one function of a sentence and its page; it returns None where the sentence gives nothing to change. A
false claim may be reworded too, so that neither the length nor the order of words tells true from false.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from public_pairs import LabelledPair

from marchwarden.evidence.entailment.pair import split_sentences

_NUMBER = re.compile(r"(?<![\w.,])\d+(?:,\d{3})*(?:\.\d+)?(?![\w,]|\.\d)")
_NAME = re.compile(r"(?<!^)(?<![.!?:“\"] )\b[A-Z][\w’'-]+(?: [A-Z][\w’'-]+)*")
_UNITS = (
    ("kilometres", "metres", "miles"), ("kilometers", "meters", "miles"), ("miles", "kilometers"), ("km", "miles",
    "m"),
    ("meters", "feet", "kilometers"), ("metres", "feet"), ("feet", "meters", "inches"), ("inches", "feet",
    "centimeters"),
    ("inch", "foot", "centimeter"), ("cm", "mm", "inches"), ("mm", "cm"), ("seconds", "minutes"), ("minutes",
    "hours", "seconds"),
    ("hours", "days", "minutes"), ("days", "weeks", "months"), ("weeks", "months", "days"), ("months", "years",
    "weeks"),
    ("years", "months", "decades"), ("hour", "day", "week"), ("month", "year", "week"), ("year", "month", "week"),
    ("day", "week"),
    ("percent", "percentage points"), ("million", "billion", "thousand"), ("billion", "million"), ("thousand",
    "million"),
    ("GB", "MB", "TB"), ("MB", "GB", "KB"), ("TB", "GB"), ("pounds", "kilograms", "ounces"), ("kg", "g", "pounds"),
    ("mg", "g", "micrograms"),
    ("grams", "kilograms", "ounces"), ("ounces", "pounds", "grams"), ("watts", "volts", "kilowatts"), ("degrees",
    "percent"),
    ("liters", "gallons"), ("litres", "gallons"), ("cups", "tablespoons"), ("tablespoons", "teaspoons"), ("teaspoon",
    "tablespoon"),
    ("daily", "weekly"), ("weekly", "monthly"), ("monthly", "yearly"), ("annually", "monthly"), ("times", "days"),
)  # fmt: skip
_OPPOSITES = (
    "increase decrease", "increases decreases", "increased decreased", "increasing decreasing", "rise fall",
    "rose fell", "higher lower", "high low",
    "highest lowest", "more fewer", "more less", "most least", "better worse", "best worst", "larger smaller",
    "large small", "big small",
    "bigger smaller", "long short", "longer shorter", "fast slow", "faster slower", "quickly slowly", "early late",
    "earlier later",
    "first last", "before after", "above below", "inside outside", "indoor outdoor", "open closed", "opened closed",
    "start end", "started ended",
    "begin end", "began ended", "enable disable", "enables disables", "enabled disabled", "allow forbid",
    "allows forbids", "allowed forbidden",
    "allows prevents", "include exclude", "includes excludes", "included excluded", "required optional",
    "public private", "new old",
    "newer older", "strong weak", "stronger weaker", "hard soft", "hot cold", "warm cool", "wet dry", "light dark",
    "light heavy", "lighter heavier",
    "cheap expensive", "easy difficult", "easier harder", "simple complex", "safe dangerous", "common rare",
    "rarely often", "often rarely", "usually rarely",
    "accept reject", "accepted rejected", "win lose", "won lost", "buy sell", "bought sold", "add remove",
    "adds removes", "added removed",
    "positive negative", "successful unsuccessful", "available unavailable", "possible impossible",
    "internal external", "local remote",
    "maximum minimum", "minimum maximum", "gain lose", "improve worsen", "improves worsens", "improved worsened",
    "reduce increase", "reduces increases", "reduced increased",
    "support oppose", "supports opposes", "love hate", "similar different", "same opposite", "together separately",
    "with without", "up down",
    "left right", "top bottom", "north south", "east west", "front back", "always never", "everything nothing",
    "modern traditional", "male female",
    "full empty", "free paid", "temporary permanent", "natural artificial", "single multiple", "several no",
    "connect disconnect", "install uninstall", "save waste",
    "input output", "read write", "sender receiver", "upper lower", "deep shallow", "wide narrow", "thick thin",
    "clean dirty", "young old", "rich poor",
    "ideal unsuitable", "helps hinders", "help hinder", "perfect unsuitable", "effective ineffective",
    "efficient inefficient", "necessary unnecessary", "important unimportant",
)  # fmt: skip
_OPPOSITE_OF: dict[str, list[str]] = {}
for _one, _other in (pair.split() for pair in _OPPOSITES):
    _OPPOSITE_OF.setdefault(_one, []).append(_other)
    _OPPOSITE_OF.setdefault(_other, []).append(_one)
_SYNONYMS = {
    "buy": "purchase", "purchase": "buy", "use": "employ", "uses": "employs", "help": "assist", "helps": "assists",
    "start": "begin", "starts": "begins",
    "started": "began", "begin": "start", "begins": "starts", "show": "demonstrate", "shows": "demonstrates",
    "large": "big", "big": "large", "small": "little",
    "quickly": "rapidly", "fast": "quick", "important": "significant", "many": "numerous", "several": "a number of",
    "often": "frequently", "usually": "typically",
    "typically": "usually", "also": "in addition", "because": "since", "however": "but", "need": "require",
    "needs": "requires", "require": "need", "requires": "needs",
    "get": "obtain", "gets": "receives", "make": "create", "makes": "creates", "create": "make", "creates": "makes",
    "created": "made", "build": "construct",
    "built": "constructed", "includes": "contains", "include": "contain", "contains": "includes",
    "contain": "include", "offers": "provides", "offer": "provide", "provides": "offers",
    "provide": "offer", "children": "kids", "kids": "children", "people": "persons", "job": "position",
    "company": "firm", "companies": "firms", "firm": "company",
    "car": "automobile", "film": "movie", "movie": "film", "whole": "entire", "entire": "whole", "almost": "nearly",
    "nearly": "almost", "about": "around", "around": "about",
    "approximately": "about", "over": "more than", "said": "stated", "says": "states", "told": "informed",
    "keep": "maintain", "keeps": "maintains", "choose": "select", "select": "choose",
    "ensure": "make sure", "ensures": "makes sure", "allows": "lets", "enables": "allows", "allow": "let",
    "famous": "well-known", "hard": "difficult", "difficult": "hard", "easy": "simple",
    "method": "approach", "goal": "aim", "goals": "aims", "issue": "problem", "issues": "problems",
    "problem": "issue", "problems": "issues", "fix": "repair", "error": "mistake",
    "various": "different", "improve": "enhance", "improves": "enhances", "enhance": "improve", "reduce": "lower",
    "reduces": "lowers", "increase": "raise", "increases": "raises",
    "founded": "established", "established": "founded", "located": "situated", "located in": "based in",
    "died": "passed away", "ended": "finished", "annual": "yearly", "yearly": "annual",
    "such as": "like", "due to": "because of", "because of": "owing to", "in order to": "to", "as well as": "and",
    "a lot of": "many", "at least": "no less than", "while": "whereas",
    "if": "in case", "must": "has to", "should": "ought to", "can": "is able to", "do not": "don't",
    "does not": "doesn't", "is not": "isn't", "are not": "aren't", "cannot": "can't",
    "don't": "do not", "doesn't": "does not", "isn't": "is not", "aren't": "are not", "can't": "cannot",
    "it's": "it is", "It's": "It is", "you're": "you are", "they're": "they are", "we're": "we are",
}  # fmt: skip
_HEDGES = (
    (r"\bmay (\w+)", r"\1"), (r"\bmight (\w+)", r"\1"), (r"\bcould (\w+)", r"will \1"), (r"\bmay (\w+)", r"will \1"),
    (r"\bcan (\w+)", r"always \1"), (r"\bcan (\w+)", r"will \1"),
    (
        r"\b(?:possibly|perhaps|probably|reportedly|allegedly|likely|potentially|often|usually|sometimes|typically|"
        r"generally|usually|mostly|mainly|frequently|occasionally|nearly|almost) ",
        "",
    ),
    (r"\b(?:often|usually|sometimes|typically|generally|frequently) ", "always "),
    (r"\b(?:tends?|seems?|appears?) to (\w+)", r"will \1"), (r"\bshould (\w+)", r"must \1"),
    (r"\b(?:[Ii]t is|I) (?:believed?|thought|think|estimated) that ", ""), (r"\bplan(?:s|ned)? to (\w+)",
    r"will \1"), (r"\bsuggests?\b", "proves"), (r"\bhelps? (?:to )?(\w+)", r"\1"),
    (r"\bup to (\d)", r"\1"), (r"\bat least (\d)", r"exactly \1"), (r"\b(?:about|around|approximately|roughly) (\d)",
    r"exactly \1"),
)  # fmt: skip
_SCOPE = (
    (r"\b(?:[Ss]ome|[Mm]any|[Mm]ost|[Ss]everal|[Aa] few)(?: of the)? (\w+)", r"all \1"),
    (r"\b([Mm]any|[Ss]ome|[Ss]everal) ", "most "), (r"\bsome ", "no "), (r"\bone of the ", "the only "),
    (r"\b(?:is|are) (among|one of)\b", "is the only one of"), (r"\bmany ", "few "), (r"\beach (\w+)", r"some \1"),
    (r"\b[Aa]ll (?:of )?", "some "), (r"\bevery ", "almost no "), (r"\bonly ", ""), (r"\bmost ", "all "),
    (r"^(?:A|An) (\w+)", r"Every \1"), (r"^The (\w+s)\b", r"All \1"), (r"\bor\b", "and"),
)  # fmt: skip
_CONDITION = re.compile(
    r",? (?:if|unless|except(?: for)?|provided(?: that)?|as long as|only|until|when|once|whenever|before|"
    r"after|during|without|instead of|rather than|depending on|for those who|other than|but only) "
    r"[^,.;]{8,90}(?=[,.;]|$)"
)
_OPENING_CONDITION = re.compile(
    r"^(?:If|When|Unless|Once|Until|Before|After|Without|During|Except)\b[^,]{6,90}, (\w)"
)
_CAUSE = re.compile(r"^(.{15,}?),? (?:because|since|so that|as a result of|due to|thanks to) (.{8,}?)\.$")
_AUXILIARY = re.compile(
    r"\b(is|are|was|were|can|will|has|have|should|does|do|did|could|would|must)\b(?! not|n't|n’t)"
)
_NOT = re.compile(
    r"\b(is|are|was|were|can|will|has|have|should|does|do|did|could|would|must)(?: not\b|n't\b|n’t\b)|"
    r"\bcannot\b|\bno longer\b"
)
_TIME = (
    (r"\bis\b", "was"), (r"\bare\b", "were"), (r"\bwas\b", "is"), (r"\bwere\b", "are"), (r"\bhas been\b", "will be"),
    (r"\bwill be\b", "has been"), (r"\bwill\b", "did"), (r"\bwill (\w+)", r"used to \1"),
    (r"\bnow\b", "formerly"), (r"\bcurrently\b", "no longer"), (r"\bstill\b", "no longer"), (r"\bformer\b",
    "current"), (r"\brecently\b", "long ago"), (r"\bused to (\w+)", r"still \1"), (r"\bsoon\b", "already"),
    (r"\balready\b", "not yet"), (r"\bhave (\w+ed)\b", r"will have \1"), (r"\btoday\b", "in the past"),
    (r"\bbefore\b", "after"), (r"\bafter\b", "before"), (r"\bsince\b", "until"), (r"\buntil\b", "since"),
)  # fmt: skip
_TAIL = re.compile(
    r"(,? (?:because|in order to|so that|which|who|where|during|thanks to|due to|as part of|with|without|"
    r"after|before|by|in|at|from|under|for|across|through) [^,.;]{8,80})\.$"
)
_APPOSITION = re.compile(
    r", (?!and |or |but |if |unless |except |when |while |though |although |not |only )[^,]{6,70}, "
)
_BRACKETS = re.compile(r" \([^)]*\)")
_LAST_CLAUSE = re.compile(r"(?:, (?:and|so|while|whereas|which|where|making|including|with|as)|;) [^,;]{10,120}\.$")
_STOP = frozenset(
    [
        "The",
        "This",
        "That",
        "These",
        "Those",
        "There",
        "It",
        "Its",
        "If",
        "When",
        "While",
        "You",
        "Your",
        "We",
        "Our",
        "They",
        "Their",
        "He",
        "She",
        "In",
        "On",
        "At",
        "For",
        "And",
        "But",
        "Or",
        "As",
        "A",
        "An",
        "To",
        "From",
        "With",
        "By",
        "Of",
        "Not",
        "No",
        "Yes",
    ]
)


@dataclass(frozen=True)
class Page:
    name: str
    sentences: tuple[str, ...]
    names: tuple[str, ...]
    words: tuple[str, ...]
    """Long words in lower case that stand on the page, for exchanges."""


Change = Callable[[str, Page, random.Random], str | None]


def read_page(name: str, text: str) -> Page:
    lines = [line.strip(" -*#\t") for line in text.splitlines()]
    found = [each for line in lines for each in split_sentences(line)]
    whole = tuple(dict.fromkeys(each for each in found if is_statement(each)))
    names = tuple(dict.fromkeys(name for each in whole for name in _NAME.findall(each) if name not in _STOP))
    words = tuple(dict.fromkeys(re.findall(r"\b[a-z]{6,}s?\b", " ".join(whole))))
    return Page(name, whole, names, words)


def is_statement(sentence: str) -> bool:
    words = sentence.split()
    return 7 <= len(words) <= 40 and sentence[0].isupper() and sentence.endswith(".") and "http" not in sentence


def _replace_once(text: str, pattern: str, new: str, rng: random.Random) -> str | None:
    found = list(re.finditer(pattern, text))
    if not found:
        return None
    match = rng.choice(found)
    return text[: match.start()] + match.expand(new) + text[match.end() :]


def _by_table(table: Sequence[tuple[str, str]]) -> Change:
    def change(text: str, page: Page, rng: random.Random) -> str | None:
        fitting = [(pattern, new) for pattern, new in table if re.search(pattern, text)]
        return _replace_once(text, *rng.choice(fitting), rng) if fitting else None

    return change


def other_number(text: str, page: Page, rng: random.Random) -> str | None:
    found = list(_NUMBER.finditer(text))
    if not found:
        return None
    match = rng.choice(found)
    value = float(match[0].replace(",", ""))
    others = [each[0] for each in found if each[0] != match[0]]
    if 1500 <= value <= 2100 and "," not in match[0]:
        new = str(int(value) + rng.choice([-20, -10, -3, -2, -1, 1, 2, 4, 10]))
    elif others and rng.random() < 0.3:
        new = rng.choice(others)
    else:
        scaled = value * rng.choice([0.1, 0.5, 1.1, 1.2, 1.5, 2, 3, 10])
        new = f"{scaled:,.0f}" if scaled >= 1 and "." not in match[0] else f"{scaled:.2f}"
    if new == match[0]:
        return None
    return text[: match.start()] + new + text[match.end() :]


def other_unit(text: str, page: Page, rng: random.Random) -> str | None:
    fitting = [
        (row[0], row[1:])
        for row in _UNITS
        if re.search(rf"\d.*\b{row[0]}\b|\b(?:per|a|an|each|every) {row[0]}\b", text)
    ]
    if "$" in text:
        return (
            text.replace("$", rng.choice("€£"))
            if rng.random() < 0.5 or not fitting
            else _replace_once(text, rf"\b{fitting[0][0]}\b", fitting[0][1][0], rng)
        )
    if not fitting:
        return None
    unit, others = rng.choice(fitting)
    return _replace_once(text, rf"\b{re.escape(unit)}\b", rng.choice(others), rng)


def other_name(text: str, page: Page, rng: random.Random) -> str | None:
    ours = [match for match in _NAME.finditer(text) if match[0] not in _STOP]
    others = [name for name in page.names if name not in text and not any(word in text for word in name.split())]
    if not ours or not others:
        return None
    match = rng.choice(ours)
    return text[: match.start()] + rng.choice(others) + text[match.end() :]


def exchanged_names(text: str, page: Page, rng: random.Random) -> str | None:
    found = [match for match in _NAME.finditer(text) if match[0] not in _STOP]
    if len(found) < 2:
        return None
    one, other = found[0], found[-1]
    between = text[one.end() : other.start()]
    # "A and B" says the same as "B and A".
    if one[0] == other[0] or re.fullmatch(r"\s*(?:,|and|or|&|/|,? and|\s)*\s*", between) or "," in between:
        return None
    return text[: one.start()] + other[0] + between + one[0] + text[other.end() :]


def exchanged_sides(text: str, page: Page, rng: random.Random) -> str | None:
    match = re.search(
        r"^(.{6,60}?) ((?:is|are|was|were)(?: \w+)? (?:\w+er|more \w+|less \w+|better|worse) than|"
        r"depends? on|consists? of|leads? to|causes?|caused|replaced|replaces|supports?|contains?|uses?|"
        r"requires?|precedes?) (.{4,60}?)\.$",
        text,
    )
    if not match:
        return None
    front, verb, back = match.groups()
    is_name = bool(re.match(r"[A-Z]{2}", front)) or front.split()[0] not in _STOP
    return f"{back[0].upper()}{back[1:]} {verb} {front if is_name else front[0].lower() + front[1:]}."


def other_word(text: str, page: Page, rng: random.Random) -> str | None:
    ours = list(re.finditer(r"\b[a-z]{6,}\b", text))
    if len(ours) < 2 or len(page.words) < 30:
        return None
    match = rng.choice(ours)
    ending = match[0][-2:]
    others = [word for word in page.words if word.endswith(ending) and word != match[0] and word[:4] != match[0][:4]]
    return text[: match.start()] + rng.choice(others) + text[match.end() :] if others else None


def dropped_condition(text: str, page: Page, rng: random.Random) -> str | None:
    if opening := _OPENING_CONDITION.match(text):
        rest = text[opening.end() - 1 :]
        return rest[0].upper() + rest[1:]
    found = list(_CONDITION.finditer(text))
    if not found:
        return None
    match = found[-1]
    shorter = text[: match.start()] + text[match.end() :]
    return shorter if len(shorter.split()) >= 5 else None


def antonym(text: str, page: Page, rng: random.Random) -> str | None:
    ours = [match for match in re.finditer(r"\b[a-z]+\b", text) if match[0] in _OPPOSITE_OF]
    if not ours:
        return None
    match = rng.choice(ours)
    return text[: match.start()] + rng.choice(_OPPOSITE_OF[match[0]]) + text[match.end() :]


def negation(text: str, page: Page, rng: random.Random) -> str | None:
    if found := _NOT.search(text):
        said = found[1] or ("can" if found[0] == "cannot" else "still")
        return text[: found.start()] + said + text[found.end() :]
    match = _AUXILIARY.search(text)
    if not match:
        return None
    new = rng.choice(["{} not", "{} not", "{} never"]).format(match[1])
    return text[: match.start()] + new + text[match.end() :]


def cause(text: str, page: Page, rng: random.Random) -> str | None:
    if match := _CAUSE.match(text):
        front, back = match.groups()
        lower = front if _NAME.match(" " + front) and front.split()[0] not in _STOP else front[0].lower() + front[1:]
        return f"{back[0].upper()}{back[1:]} because {lower}."
    match = re.search(r", (?:and|while|but|then|so) (?=(?:it|they|he|she|you|we|the|this|these|its|their)\b)", text)
    return (
        text[: match.start()] + rng.choice([" because ", " as a result of which "]) + text[match.end() :]
        if match
        else None
    )


def added_detail(text: str, page: Page, rng: random.Random) -> str | None:
    tails = [
        found[1]
        for each in rng.sample(page.sentences, min(12, len(page.sentences)))
        if each != text and (found := _TAIL.search(each))
    ]
    return text[:-1] + rng.choice(tails) + "." if tails else None


def merged(text: str, page: Page, rng: random.Random) -> str | None:
    """Return the subject of the sentence with the predicate of another."""
    verb = re.compile(
        r" (is|are|was|were|has|have|can|will|offers?|provides?|includes?|uses?|helps?|allows?|makes?|"
        r"works?|comes?|needs?) "
    )
    ours = verb.search(text)
    if not ours or ours.start() < 6:
        return None
    others = [
        found for each in page.sentences if each != text and (found := verb.search(each)) and found[1] == ours[1]
    ]
    if not others:
        return None
    other = rng.choice(others)
    return text[: ours.start()] + other.string[other.start() :]


def other_sentence(text: str, page: Page, rng: random.Random) -> str | None:
    others = [each for each in page.sentences if each != text]
    return rng.choice(others) if others else None


FALSE: dict[str, Change] = {
    "number": other_number,
    "unit": other_unit,
    "name": other_name,
    "swap": exchanged_names,
    "sides": exchanged_sides,
    "word": other_word,
    "condition": dropped_condition,
    "hedge": _by_table(_HEDGES),
    "scope": _by_table(_SCOPE),
    "antonym": antonym,
    "negation": negation,
    "cause": cause,
    "time": _by_table(_TIME),
    "added": added_detail,
    "merge": merged,
    "other": other_sentence,
}


def without_aside(text: str, page: Page, rng: random.Random) -> str | None:
    shorter = _BRACKETS.sub("", text)
    if shorter != text:
        return shorter
    found = _APPOSITION.search(text)
    return text[: found.start()] + " " + text[found.end() :] if found and found.start() > 8 else None


def without_last_clause(text: str, page: Page, rng: random.Random) -> str | None:
    found = _LAST_CLAUSE.search(text)
    return text[: found.start()] + "." if found and found.start() > 30 else None


def other_wording(text: str, page: Page, rng: random.Random) -> str | None:
    fitting = [word for word in _SYNONYMS if re.search(rf"\b{re.escape(word)}\b", text)]
    if not fitting:
        return None
    changed = text
    for word in rng.sample(fitting, min(len(fitting), rng.choice([1, 1, 2, 3]))):
        changed = re.sub(rf"\b{re.escape(word)}\b", _SYNONYMS[word], changed, count=1)
    return changed


def adverbial_moved(text: str, page: Page, rng: random.Random) -> str | None:
    if found := re.match(
        r"^((?:In|On|At|By|For|During|After|Before|Since|When|If|With|Because|As|To|While|Once) "
        r"[^,]{4,80}), (.{12,})\.$",
        text,
    ):
        front, rest = found.groups()
        return f"{rest[0].upper()}{rest[1:]} {front[0].lower()}{front[1:]}."
    if found := re.match(
        r"^(.{15,}?),? ((?:when|if|because|since|while|once|in \d{4}|during|after|before) [^,;]{6,80})\.$", text
    ):
        rest, back = found.groups()
        lower = rest if rest.split()[0] not in _STOP else rest[0].lower() + rest[1:]
        return f"{back[0].upper()}{back[1:]}, {lower}."
    return None


def passive(text: str, page: Page, rng: random.Random) -> str | None:
    found = re.match(
        r"^(.{3,60}?) (was|were|is|are) (founded|built|created|designed|written|produced|developed|"
        r"published|made|used|supported|managed|directed|acquired|owned|tested|approved) by (.{3,60}?)\.$",
        text,
    )
    if not found:
        return None
    thing, be, verb, who = found.groups()
    active = {"written": "wrote", "built": "built", "made": "made"}.get(verb, verb)
    active = (
        active
        if be in ("was", "were")
        else {"written": "writes", "built": "builds", "made": "makes"}.get(
            verb, re.sub(r"ed$", "es" if not verb.endswith("ted") else "s", verb)
        )
    )
    first = thing[0].lower() if thing.split()[0] in _STOP else thing[0]
    return f"{who[0].upper()}{who[1:]} {active} {first}{thing[1:]}."


def number_rewritten(text: str, page: Page, rng: random.Random) -> str | None:
    words = (
        "zero",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
    )
    if (found := re.search(r"(?<![\w.,$€£])(\d{1,2})(?= [a-z])", text)) and 2 <= int(found[1]) <= 12:
        return text[: found.start()] + words[int(found[1])] + text[found.end() :]
    if found := re.search(r"\b(" + "|".join(words[2:]) + r")\b", text):
        return text[: found.start()] + str(words.index(found[1])) + text[found.end() :]
    if found := re.search(r"(\d+)(?:%| percent\b)", text):
        new = f"{found[1]} percent" if found[0].endswith("%") else f"{found[1]}%"
        return text[: found.start()] + new + text[found.end() :]
    if found := re.search(r"\b(\d{1,3}),(\d{3})\b(?!,)", text):
        return text[: found.start()] + found[1] + found[2] + text[found.end() :]
    if found := re.search(r"\b(\d+(?:\.\d)?) million\b", text):
        return text[: found.start()] + f"{float(found[1]) * 1e6:,.0f}" + text[found.end() :]
    return None


def one_of_a_list(text: str, page: Page, rng: random.Random) -> str | None:
    found = re.search(r"(\w[\w’'-]*(?: [\w’'-]+)?), (\w[\w’'-]*(?: [\w’'-]+)?),? and (\w[\w’'-]*)", text)
    if not found or re.search(r"\b(?:between|both|total|together|or|not|no|without)\b", text):
        return None
    return text[: found.start()] + f"{found[1]} and {found[3]}" + text[found.end() :]


def said_by_page(text: str, page: Page, rng: random.Random) -> str | None:
    lower = text if _NAME.match(" " + text) and text.split()[0] not in _STOP else text[0].lower() + text[1:]
    return rng.choice(["According to the page, {}", "The page says that {}", "The source states that {}"]).format(
        lower
    )


TRUE: dict[str, Change] = {
    "aside": without_aside,
    "clause": without_last_clause,
    "wording": other_wording,
    "moved": adverbial_moved,
    "passive": passive,
    "figures": number_rewritten,
    "list": one_of_a_list,
    "said": said_by_page,
}


def make_pairs(page: Page, rng: random.Random, sentences_a_page: int = 12) -> Iterator[LabelledPair]:
    """Yield about as many true as false pairs of a page. A quote is the sentence, at times with its neighbours."""
    for sentence in rng.sample(page.sentences, min(sentences_a_page, len(page.sentences))):
        place = page.sentences.index(sentence)
        around = page.sentences[max(0, place - 1) : place + 2] if rng.random() < 0.35 else (sentence,)
        false = [(kind, claim) for kind, change in FALSE.items() if (claim := change(sentence, page, rng))]
        true = [(kind, claim) for kind, change in TRUE.items() if (claim := change(sentence, page, rng))]
        # Any sentence can be introduced, so that is seldom done.
        true = [each for each in true if each[0] != "said" or rng.random() < 0.25]
        rng.shuffle(false)
        rng.shuffle(true)
        false = [each for each in false if each[0] not in ("other", "added", "word") or rng.random() < 0.4]
        for kind, claim in false[:3]:
            quotes = (sentence,) if kind in ("other", "merge") else around
            reworded = (
                rng.choice([*TRUE.values()])(claim, page, rng) if rng.random() < 0.4 and kind != "other" else None
            )
            yield _pair(reworded or claim, quotes, False, kind, page)
        for kind, claim in true[:3]:
            second = rng.choice([*TRUE.values()])(claim, page, rng) if rng.random() < 0.4 else None
            yield _pair(second or claim, around, True, kind, page)


def _pair(claim: str, quotes: tuple[str, ...], supported: bool, kind: str, page: Page) -> LabelledPair:
    claim = re.sub(r"\s+", " ", claim).strip()
    return LabelledPair(claim[0].upper() + claim[1:], (" ".join(quotes),), supported, "pages", kind, "pg" + page.name)
