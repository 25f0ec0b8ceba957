"""Analyse a question by rule: the clauses that ask, the names in it, the words that say little, a query of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from marchwarden.evidence.framing import ASKING, FOREIGN_ASKING, INVERTED, PREPOSITION, asked_text, unframe
from marchwarden.text.ranking import guess_language, terms
from marchwarden.text.stop_words import is_stop_word
from marchwarden.text.turns import first_sentence, turns_in, without_turns

# Characters of a query, at most: the limit of Tavily's API.
QUERY_LIMIT = 400
# Aspects of one question, at most. A guess.
MOST_ASPECTS = 6

_NEW_CLAUSE = re.compile(
    # "and" or a new sentence, then anything that asks
    rf"(?:[;?]\s+(?:and\s+)?|,?\s+and\s+(?:also\s+)?|,\s+but\s+)(?={PREPOSITION}?(?:{ASKING}|{INVERTED}))"
    rf"|,?\s+(?:und|et|y|и)\s+(?={FOREIGN_ASKING})"
    # a comma alone: what can't be a relative clause
    rf"|,\s+(?={PREPOSITION}(?:what|which)\b|(?:how|what|why)\b|(?:who|when|where) {INVERTED}"
    rf"|{INVERTED} (?:the|a|an|its?|they|their|this|these|there)\b)",
    re.IGNORECASE,
)
# Text before the first thing asked that holds for all of them: "Under the GDPR, …", "A talk on La Paz: …".
_INTRODUCTION = re.compile(
    rf"^(?!{PREPOSITION}?{ASKING})"
    rf"(?:(?P<frame>(?:{PREPOSITION}|among |according to |based on |as per |following )[^,?:]{{3,80}}),|"
    rf"(?P<preface>[^?:]{{3,120}}):)\s+"
    rf"(?={PREPOSITION}?(?:{ASKING}|{INVERTED}))",
    re.IGNORECASE,
)
# Pronouns of German, French, Spanish and Russian that no English word is spelt like.
_FOREIGN = (
    r"es|ihn|ihm|ihre?[rsmn]?|seine?[rsmn]?|dort|elle|ils|elles|lui|leurs?|ella|ellos|ellas|sus?|allí|él|"
    r"его|её|их|им|он|она|они|там|нём|ней"
)
_BACKWARD = re.compile(
    r"\b(it|its|they|them|their|he|his|him|she|her|this|that|these|those|there|one|then|" + _FOREIGN + r")\b",
    re.IGNORECASE,
)
_PERSONAL = re.compile(r"\b(it|its|they|them|their|he|his|him|she|her|there|" + _FOREIGN + r")\b", re.IGNORECASE)
_PERSON = re.compile(r"\b(he|his|him|she|her)\b", re.IGNORECASE)
_POSSESSIVES = frozenset({"its", "their", "his", "her"})
# Words of that form that stand for nothing before: "are there", "is it true", "the day that", "which one".
_NOT_BACKWARD = re.compile(
    rf"\b(?:{INVERTED}|be|been) there\b|\bthere (?:is|are|was|were|has|have)\b|\bthen (?:is|are|was|were)\b|"
    r"\b(?:is|was|does|did|would|can|will) it (?:worth|possible|true|safe|legal|necessary|better|ok|okay|healthy|"
    r"allowed|normal|really|take|cost to|make sense)\b|\bmake it\b|"
    rf"\b(?!(?:{INVERTED}|{PREPOSITION.replace(' )', ')')}|do|or|than|like|all|only|just)\b)[\w'’-]+ that\b|"
    r"\bas (?:its|their)\b|\bwhich one\b|\bno one\b|\bone (?:of|can|day|year|has)\b",
    re.IGNORECASE,
)
# What stands for something before in German, in small letters: "Sie" is who is spoken to.
_GERMAN_PRONOUN = re.compile(
    r"\b(?:er|sie|es|ihn|ihm|ihnen|dort|dorthin|dessen|deren|da(?:bei|durch|für|gegen|mit|nach|ran|rauf|rin|rüber|von"
    r"|vor|zu)|diese[rsmn]?|das(?=\W*$)|(?P<possessive>ihre?[rsmn]?|seine?[rsmn]?))\b"
)
_GERMAN_IMPERSONAL = re.compile(
    r"\b(?:gibt|geht|regnet|schneit|dauert|heißt|stimmt) es\b|\bes (?:gibt|geht|regnet|schneit|dauert|heißt|stimmt)\b"
    r"|\b(?:ist|war|wird|wäre) es (?:besser|erlaubt|gefährlich|gesund|kalt|legal|möglich|nötig|sinnvoll|wahr|warm)\b",
    re.IGNORECASE,
)
_GERMAN_FORMAL = re.compile("Sie|Ihnen|Ihre?[rsmn]?")
_GERMAN_SHORT = re.compile(r"(?:und|oder|aber|Und|Oder|Aber) (?P<rest>(?:[\w’'-]+ ?){1,4})[?.!]*")
_GERMAN_PLACE = r"(?:in|im|aus|bei|nach|auf|am) (?:der |dem |den )?"
# Words that name one person or firm. A guess.
_MOST_WORDS_OF_A_NAME = 3
_ALTERNATIVE = re.compile(r"\s(?P<joint>or|vs\.?|versus)\s", re.IGNORECASE)
_COMPARED = re.compile(
    r"\b(?:compare|contrast|differences? between|comparison (?:of|between))\b.+?\s(?P<joint>and|with|to|against)\s",
    re.IGNORECASE,
)
_MOST_WORDS_OF_A_SIDE = 3
_FOCUS = re.compile(
    r"(?:focus(?:ing)? on|(?:especially |particularly |mainly )interested in|concentrate on|need to know|want "
    r"to know|tell me about|"
    r"interested in|looking for)\s+([^.;!?]+)",
    re.IGNORECASE,
)
# Words of the asker's own affairs, which are nobody else's business.
_OWN = re.compile(r"\b(?!(?-i:US)\b)(?:i|me|my|mine|we|us|our|because|since|as i)\b", re.IGNORECASE)
# A follow-up that only exchanges one thing ("And in Germany?", "What about decaf?"), or asks for something else of
# the same ("And the price?").
_SHORT = re.compile(
    rf"(?:(?:and|or|but|so)\s+)?(?:(?:what|how) about\s+)?(?P<rest>(?:{PREPOSITION})?(?:[\w'’.-]+ ?){{1,4}})[?.!]*",
    re.IGNORECASE,
)
_NO_NOUN = re.compile(rf"(?:and |or |but |so )?{PREPOSITION}?(?:{ASKING}|{INVERTED})", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"(?:the|its|his|her|their)\b", re.IGNORECASE)
_PLACED = re.compile(r"(?:in|at|near|from)\b", re.IGNORECASE)
_CONJUNCTION = re.compile(r"^(?:and|but|also|so|then|or) (?:also )?", re.IGNORECASE)
_BARE = re.compile(rf"{PREPOSITION}?{ASKING}(?: \w+)?", re.IGNORECASE)
_SUBJECT = re.compile(r"\b(?:about|on|regarding|concerning|into|of)\s+([^.;,:]+)", re.IGNORECASE)
# Words of an errand ("I am preparing a lesson"), which say nothing about what is asked.
_ERRAND = frozenset(
    terms(
        "am are writing write preparing prepare need want looking working work reading learning planning trying "
        "doing lesson class "
        "school essay article report homework quiz question talk presentation project hand-out fact source "
        "solid book blog thesis"
    )
)
_OPENING = re.compile(
    r"(?:compare|contrast|explain|describe|list|name|tell|give|show|find|please|according|based|summari[sz]e|"
    r"outline|define|"
    r"calculate|identify|discuss|trace|state|dear|hi|hello|hey|thanks|yes|no|also|both|each|every|focus|"
    r"concentrate|note)",
    re.IGNORECASE,
)
_CALENDAR = re.compile(
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december|monday|tuesday|"
    r"wednesday|"
    r"thursday|friday|saturday|sunday)(?:['’]?s)?",
    re.IGNORECASE,
)
_MEASURE = re.compile(r"[GMTK]B|[kMG]?Wh?|[kMG]?Hz|mAh|USD|EUR|GBP|pH|CEO|PDF|FAQ|OK|PC")
_JOINS = ("or", "and", "vs", "vs.", "versus", "&")
# "My brother Oskar": who somebody is to the asker.
_RELATION = re.compile(
    r"\b(?:my|our)(?: \w+)? (?:brother|sister|son|daughter|wife|husband|partner|friend|boss|teacher|colleague|"
    r"mother|father|mum|mom|dad|"
    r"aunt|uncle|cousin|neighbou?r|dog|cat|kids?|child(?:ren)?|doctor|manager|client|student)s?,? (?:called |"
    r"named )?$",
    re.IGNORECASE,
)
# A name of several words: "University of Arkansas".
_LINK = re.compile(r"(?:of|the|de|la|del|van|von|der|du|&|and)\Z")
_MOST_LENT_NAMES = 8
_MOST_LENT_WORDS = 4
_MOST_TOPIC_WORDS = 12


# Terms of a question that say little about the pages that answer it.
VAGUE_TERMS = frozenset(
    terms(
        "best ideal good main major common many much most important different kind type way thing make use used "
        "using get give know people tell explain describe list name current currently today recent latest work "
        "works happen happened long far big large year time"
    )
)


def split_question(question: str, context: str | None = None) -> list[str]:
    """Split a question into aspects: its clauses that ask something of their own.

    What only sets the scene or tells the form of the answer is none. A clause that depends on the first ("and who
    founded it?", "and how high are the fines?") gets the names of the first, so that it can be searched for alone.
    Where the first has no names, the clause is joined to the one before it. Names in an introduction are added to
    every clause without a name. What the first clause leaves open is looked for in the setting, then in the context,
    where the last turn of a conversation decides.
    """
    turns = turns_in(context)
    topic: list[str] = []
    told = [context or ""]
    if turns:
        before, answer = turns[-1].question, first_sentence(turns[-1].answer)
        if guess_language(f"{before} {question}") == "de":
            # Its nouns have capitals: they tell what is left out, and nothing else of the context is needed.
            topic, told, context = _german_topic(question, before, answer), [], without_turns(context)
        else:
            topic = _topic(question, before, answer)
            context = f"{without_turns(context)} {before} {answer}"
            # Who was asked for is who is spoken of now.
            told = [answer, before] if re.search(r"\bwho\b", before, re.IGNORECASE) else [before, answer]
    framed = unframe(question)
    clauses: list[str] = []
    lent: list[str] = []
    told_apart: set[int] = set()
    asks = list(framed.asks)
    if len(asks) == len(framed.setting) == 1:
        # The question may begin with a title: a topic without a verb.
        title = framed.setting[0]
        is_sentence = re.search(rf"\b(?:{INVERTED}|be|been|it|they|he|she|this|that)\b", title, re.IGNORECASE)
        if question.lstrip().startswith(title) and not is_sentence and _is_topic(title):
            asks = [f"{title.rstrip(' .')}: {asks[0]}"]
    for ask, setting in zip(asks, framed.before, strict=True):
        if clauses and not setting:
            named: list[str] = lent
        elif _INTRODUCTION.match(ask):
            named = []
        elif clauses:
            named = _lent_names(_divided(ask)[0], setting, [], "")
        else:
            named = lent = topic or _lent_names(_divided(ask)[0], setting, told, context or "")
        begun = len(clauses)
        common = _add_clauses(_CONJUNCTION.sub("", _in_small_letters(ask)), clauses, named, is_apart=bool(setting))
        if len(clauses) > begun and named is not lent:
            clauses[begun] = _with(clauses[begun], named)
        # A clause that is told what it is about is not about the first one's names, too.
        told_apart.update(range(begun, len(clauses)) if common else [begun] if named is not lent and named else [])
    clauses = clauses[:MOST_ASPECTS] or [question]
    clauses[0] = _with(clauses[0], lent)
    names = subject_of(clauses[0])
    return clauses[:1] + [
        clause if place in told_apart else with_names([clause], names)[0]
        for place, clause in enumerate(clauses[1:], start=1)
    ]


def standalone(question: str, context: str | None) -> str:
    """Return what a question asks; with the words that it leaves out, where it goes on with a conversation."""
    return "; ".join(split_question(question, context)) if turns_in(context) else asked_text(question)


def _lent_names(clause: str, setting: Sequence[str], texts: Sequence[str], context: str) -> list[str]:
    """Return the words of the name without which a clause can't be understood, where one is told."""
    telling = set(terms(clause)) - VAGUE_TERMS
    if len(telling) < 2 and not _has_name(clause) and not setting and (told := _told_last(context)):
        return told
    if _points_outside(clause) or (not _has_name(clause) and len(telling) < 3):
        if named := _named_in(setting, clause):
            return named
        # The telling words of what a setting without names is about.
        if _is_backward(clause):
            subjects = [match[1] for text in setting for match in _SUBJECT.finditer(text)]
            if words := _topic_words(subjects)[:_MOST_LENT_WORDS]:
                return words
        return _topic_words(text for text in setting if _is_topic(text)) or _named_in(texts, clause)
    if _has_name(clause):
        return []
    return _named_in(setting, clause, also_places=needs_names(clause, least_words=5))


def _topic(question: str, before: str, answer: str) -> list[str]:
    """Return the words of the question before that a follow-up leaves out; none where it asks something of its own.

    "And in Germany?" after "What is the VAT rate in France?" asks for the VAT rate. "What are its side effects?"
    after "what is aspirin used for?" finds no name, as that has no capital.
    """
    asked = asked_text(before)
    short = _SHORT.fullmatch(question.strip())
    rest = short["rest"] if short else ""
    is_attribute = bool(_ATTRIBUTE.match(rest))
    if rest and not is_attribute and not _NO_NOUN.match(rest):
        # Names of the same kind give way: a place to a place, the last name to a name.
        replaced = [run for run in _name_runs(before) if run.placed or not _PLACED.match(rest)][-1:]
        gone = {word for run in replaced if any(map(str.isupper, rest)) for word in run.words}
    elif (is_attribute or _points_outside(question)) and not (_has_name(before) or _has_name(answer)):
        gone = set()
    else:
        return []
    return [word for word in _words(asked) if word not in gone and set(terms(word)) - VAGUE_TERMS][:_MOST_LENT_NAMES]


def _german_topic(question: str, before: str, answer: str) -> list[str]:
    """Return the nouns and numbers of a German turn that a follow-up on it leaves out; none where it is no follow-up.

    "Und wann schließt er?" after "Wann öffnet der Stand?" is about the Stand. "Und in Deutschland?" exchanges the
    last place, "Und Göttingen?" the last noun.
    """
    nouns = _german_nouns(before)
    own = _german_nouns(question)
    short = _GERMAN_SHORT.fullmatch(question.strip())
    if short and own and not re.search(FOREIGN_ASKING, question, re.IGNORECASE):
        if re.match(_GERMAN_PLACE, short["rest"]):
            placed = [
                word for found in re.finditer(rf"\b{_GERMAN_PLACE}(\w+)", before) if (word := found[1]) in nouns
            ]
            gone = set(placed[-1:])
        else:
            gone = set(nouns[-1:]) if short["rest"][:1].isupper() else set()
        return [word for word in nouns if word not in gone][:_MOST_LENT_NAMES]
    if not (_points_back_in_german(question) or (short and not own)):
        return []
    # Who was asked for is who may be spoken of now.
    asked_for = _german_nouns(answer)[:_MOST_WORDS_OF_A_NAME] if re.search(r"\b[Ww]e[rnm]\b", before) else []
    return list(dict.fromkeys([*asked_for, *nouns]))[:_MOST_LENT_NAMES]


def _points_back_in_german(question: str) -> bool:
    """Return whether a German question says "er" or "dort" of what it does not name before in another clause."""
    plain = _GERMAN_IMPERSONAL.sub(" ", question)
    found = _GERMAN_PRONOUN.search(plain)
    if found is None:
        return False
    before = plain[: found.start()]
    if found["possessive"]:
        return not _german_nouns(before)
    clauses = re.split(r",|\b(?:und|oder)\b", before)
    return not _german_nouns(" ".join(clauses[:-1]))


def _german_nouns(text: str) -> list[str]:
    """Return the nouns and numbers of a German text: words with a capital, but for what only begins a sentence."""
    nouns: list[str] = []
    begins = True
    for found in re.finditer(r"[\w’'-]+|[.?!:]", text):
        word = found[0]
        is_asking = re.fullmatch(FOREIGN_ASKING, word, re.IGNORECASE)
        is_small = is_stop_word(word.lower(), "de") or is_asking or _GERMAN_FORMAL.fullmatch(word)
        # A question that does not begin with an asking word begins with its verb.
        is_verb = begins and text.rstrip().endswith("?")
        if word[0].isdigit() or (word[0].isupper() and not is_small and not is_verb):
            nouns.append(word)
        begins = word in ".?!:"
    return nouns


def _points_outside(clause: str) -> bool:
    """True for a clause that says "it" or "that" before anything that it may stand for."""
    plain = _NOT_BACKWARD.sub(" ", clause)
    pronoun = (_PERSONAL if _has_name(clause) else _BACKWARD).search(plain)
    if pronoun is None:
        return False
    before = plain[: pronoun.start()]
    named = [name for name in names_in(before) if not name.isupper()]
    return not named and len(set(terms(before)) - VAGUE_TERMS) < 4


def _add_clauses(ask: str, clauses: list[str], lent: list[str], *, is_apart: bool) -> list[str]:
    """Add the clauses of one sentence, and return the words that its beginning gives to each of them.

    `lent` are the names that the first of all clauses needs; `is_apart`: a sentence stands between this one and the
    clauses before, so that it does not go on with them.
    """
    introduction = _INTRODUCTION.match(ask)
    asked = ask[introduction.end() :] if introduction else ask
    frame, preface = (introduction["frame"], introduction["preface"]) if introduction else (None, None)
    divided = _divided(asked)
    # What stands before the only question is what it is about, whatever it names itself.
    is_about = len(divided) == 1 and preface is not None and _is_topic(preface)
    named = [] if is_about else subject_of(frame or preface or "")
    common = named or _topic_words([preface or ""])
    begun = len(clauses)
    for clause in divided:
        # "And why?", or "and what does it report?" after a clause without a name, can't be searched for alone.
        own = set(terms(clause)) - VAGUE_TERMS
        first = clauses[0] if clauses else ""
        is_vague = not own or (len(own) < 4 and _is_backward(clause) and not (lent or subject_of(first)))
        if clauses and is_vague and not common and not (is_apart and len(clauses) == begun):
            clauses[-1] = f"{clauses[-1]}, {clause}"
        elif clause:
            clauses.append(clause)
    if frame and len(clauses) > begun:
        clauses[begun] = f"{frame}, {clauses[begun]}"
    if common:
        clauses[begun:] = [
            _with(clause, common if is_about or not _has_name(clause) else []) for clause in clauses[begun:]
        ]
    return common


def _divided(asked: str) -> list[str]:
    """Return the clauses that ask; "when and where was …" stays one."""
    found: list[str] = []
    begin, alone, joined = 0, False, False
    for cut in [*_NEW_CLAUSE.finditer(asked), None]:
        clause = asked[begin : cut.start() if cut else None].strip(" ?,;？؟。")
        clause = re.sub(r"(?<=[^\W\d_]{2})[.!]+$", "", clause)
        if alone and found:
            found[-1] = f"{found[-1]} and {clause}"
        else:
            found.append(clause)
        begin = cut.end() if cut else len(asked)
        # An asking word at the start, or after a comma, and then "and": it asks about what follows.
        before, joined = joined, bool(cut and cut[0].strip().lower() == "and")
        alone = joined and not before and bool(_BARE.fullmatch(clause))
    return found


def with_names(clauses: list[str], names: list[str]) -> list[str]:
    """Add the names to each clause that can't be understood alone."""
    return [_with(clause, names if needs_names(clause) else []) for clause in clauses]


def needs_names(clause: str, least_words: int = 3) -> bool:
    """Return whether a clause can't be understood alone.

    It says "it", or has no name and says "that", or has no name and fewer than `least_words` telling words.
    """
    if _has_name(clause):
        plain = _NOT_BACKWARD.sub(" ", clause)
        # "its" after a name is that name's; "it" may be anything.
        return any(
            each[0].casefold() not in _POSSESSIVES or not _has_name(plain[: each.start()])
            for each in _PERSONAL.finditer(plain)
        )
    return _is_backward(clause) or len(set(terms(clause)) - VAGUE_TERMS) < least_words


def _with(clause: str, names: list[str]) -> str:
    held = set(terms(clause))
    said = clause.split()
    missing = [name for name in names if name not in said and not (held and set(terms(name)) & held)]
    return f"{clause} ({' '.join(missing)})" if missing else clause


def _is_backward(clause: str) -> bool:
    return bool(_BACKWARD.search(_NOT_BACKWARD.sub(" ", clause)))


def _has_name(text: str) -> bool:
    return any(not re.fullmatch(r"[\d.,%]+", name) for name in names_in(text))


def subject_of(text: str) -> list[str]:
    """Return the names in a text; where its capitals tell none, its telling words."""
    names = names_in(text)
    if _capitals_tell(text):
        return names
    language = guess_language(text)
    telling = [
        word
        for word in _words(text)
        if set(terms(word, language)) - VAGUE_TERMS
        and not _OPENING.fullmatch(word)
        and not re.fullmatch(FOREIGN_ASKING, word, re.IGNORECASE)
    ]
    return [word for word in telling if word not in names][:_MOST_LENT_WORDS] + names


def _named_in(texts: Iterable[str], clause: str, *, also_places: bool = True) -> list[str]:
    """Return the words of the name that `clause` most likely means: the first in the texts that fits its "
    "pronoun."""
    for text in texts:
        runs = list(_name_runs(text))
        if re.search(r"\bthere\b", clause, re.IGNORECASE):
            runs = [run for run in runs if run.placed] or runs
        elif _PERSON.search(clause) or not also_places:
            runs = [run for run in runs if not run.placed] or (runs if also_places else [])
        if runs:
            return list(runs[0].words)[:_MOST_LENT_NAMES]
    return []


def _topic_words(texts: Iterable[str]) -> list[str]:
    """Return the words of texts that tell what they are about."""
    words = [word.strip(".") for word in _words(" ".join(texts)) if word.casefold() not in _JOINS]
    return [word for word in words if set(terms(word)) - VAGUE_TERMS - _ERRAND][:_MOST_TOPIC_WORDS]


def _is_topic(text: str) -> bool:
    """Return whether a text before a question tells its topic, and hardly anything of the asker or an errand."""
    said = set(terms(text)) - VAGUE_TERMS
    return not _OWN.search(text) and 3 * len(said & _ERRAND) < len(said)


def _told_last(context: str) -> list[str]:
    """Return the telling words of the last sentence of a context that is not about the caller.

    "What about decaf?" asks for no more than what was told before: "A cup of coffee has 95 mg of caffeine."
    """
    told = [each for each in re.split(r"(?<=[.!?;])\s+", context) if each and not _OWN.search(each)]
    words = [word for word in _words(told[-1] if told else "") if not re.search(r"\d", word)]
    return [word for word in words if set(terms(word)) - VAGUE_TERMS][:_MOST_LENT_NAMES]


@dataclass(frozen=True)
class _NameRun:
    words: tuple[str, ...]
    placed: bool
    """True where "in", "at", "to" or "near" stands before it."""


def _name_runs(text: str) -> Iterator[_NameRun]:
    """Yield the names in a text, those of several words in one, without those of people the asker calls theirs."""
    text = _in_small_letters(text)
    named = set(names_in(text))
    run: list[str] = []
    begin = end = 0
    for word in [*re.finditer(r"[^\s()\"“”]+", text), None]:
        plain = word[0].strip(".,;:!?'’") if word else ""
        goes_on = bool(run) and word is not None and text[end : word.start()].strip() in ("", ",")
        if word and plain in named and (goes_on or not run) and not re.fullmatch(r"[\d.,:%]+", plain):
            begin = begin if run else word.start()
            run.append(plain)
            end = word.start() + len(plain)
        elif word and goes_on and _LINK.match(plain):
            end = word.end()
        else:
            if run and not _RELATION.search(text[:begin]):
                yield _NameRun(tuple(run), bool(re.search(r"\b(?:in|at|to|near|from) (?:the )?$", text[:begin])))
            run = []
            if word and plain in named and not re.fullmatch(r"[\d.,:%]+", plain):
                begin, run, end = word.start(), [plain], word.start() + len(plain)


def names_in(text: str) -> list[str]:
    """Return the words that name something: with a capital (Utah, mRNA) inside a sentence, or with a digit.

    The first word of a sentence is one where its capital is no sentence's (iPhone), or more capitals follow. Months
    and weekdays are none. Capitals tell nothing in German, and where every word has them or none.
    """
    words = _words(text)
    tell = _capitals_tell(text)
    # Positions of the words that begin a sentence.
    starts, count = {0}, 0
    for sentence in re.split(r"(?<=[?!:])\s+|(?<=[^\W\d_]{3}\.)\s+(?=[^\W\d_])", text):
        starts.add(count)
        count += len(_words(sentence))
    return [
        word.strip(".'’")
        for position, word in enumerate(words)
        if re.search(r"\d", word) or (tell and _is_name(words, position, position in starts))
    ]


def _is_name(words: list[str], position: int, starts: bool) -> bool:
    word = words[position]
    if not any(map(str.isupper, word)) or word in ("I", "I'm", "I’m", "I've", "I’ve", "I'd", "I’d", "AD", "BC"):
        return False
    if _MEASURE.fullmatch(word):
        return False
    if _CALENDAR.fullmatch(word.strip(".'’")):
        return position > 1 and _is_name(words, position - 1, False)  # Black Friday
    if not starts or any(map(str.isupper, word[1:])):
        return not starts or not _OPENING.fullmatch(word)
    if _OPENING.fullmatch(word) or re.match(
        rf"(?:{ASKING}|{INVERTED}|{PREPOSITION.rstrip()})", f"{word} ", re.IGNORECASE
    ):
        return False
    if is_stop_word(word, "en"):
        return False
    following = words[position + 1 : position + 3]
    if following and following[0].casefold() in _JOINS:
        following = following[1:]
    return bool(following) and following[0][:1].isupper() and not _CALENDAR.fullmatch(following[0])


def _words(text: str) -> list[str]:
    return [re.sub(r"(?<=[^\W\d_]{3})\.$", "", word) for word in re.findall(r"[^\s,;:()?!\"“”]+", text)]


def _capitals_tell(text: str) -> bool:
    words = [word for word in _words(text) if word[0].isalpha()]
    small = [word for word in words if word[0].islower()]
    if not any(map(str.isupper, text)):
        return False
    if not small and len(words) > 1 and (text.isupper() or any(is_stop_word(word, "en") for word in words[1:])):
        return False
    return guess_language(text) != "de"


def _in_small_letters(text: str) -> str:
    """Return a text in small letters where all its words are in capitals."""
    words = [word for word in _words(text) if word[0].isalpha() and len(word) > 1]
    return text.lower() if len(words) > 2 and text.isupper() else text


def sides_of(question: str) -> list[str]:
    """Return what is asked about each side of a comparison alone ("A or B", "A vs B", "compare A and B").

    Empty where nothing is compared.
    """
    for ask in unframe(question).asks:
        joint = _ALTERNATIVE.search(ask) or _COMPARED.search(ask)
        if joint is None:
            continue
        begin, end = joint.span("joint")
        words = [*re.finditer(r"[^\s,;:()?!]+|[,;:()?!]", ask)]
        left = _side([word for word in reversed(words) if word.end() <= begin], most=_MOST_WORDS_OF_A_SIDE)
        right = _side([word for word in words if word.start() >= end], most=max(1, len(left)))
        following = ask[end:].split()[0].casefold() if ask[end:].strip() else ""
        if left and right and following not in ("not", "both", "so", "more", "less", "any", "fewer"):
            at, until = left[-1].start(), right[-1].end()
            return [f"{ask[:begin].rstrip()}{ask[until:]}", f"{ask[:at]}{ask[right[0].start() :]}"]
    return []


def _side(words: Sequence[re.Match[str]], most: int) -> list[re.Match[str]]:
    """Return the words of one thing that is compared, those next to the joint first."""
    found: list[re.Match[str]] = []
    for word in words:
        if not word[0][0].isalnum() or is_stop_word(word[0], "en"):
            if found or not word[0][0].isalnum():
                break
            continue
        if found and len(found) >= most and not word[0][0].isupper():
            break
        if found and found[-1][0][0].isupper() and not word[0][0].isupper():
            break
        found.append(word)
    return found


def as_query(text: str) -> str:
    """Return a text as a query of at most 400 characters, cut between words."""
    text = " ".join(text.split())
    return text if len(text) <= QUERY_LIMIT else text[: QUERY_LIMIT + 1].rsplit(" ", 1)[0][:QUERY_LIMIT]


def own_words(context: str | None) -> set[str]:
    """Return the terms of the sentences of a context in which its author speaks of themselves."""
    said = without_turns(context)
    told = [sentence for sentence in re.split(r"(?<=[.!?;])\s+", said) if _OWN.search(sentence)]
    return set(terms(" ".join(told))) - VAGUE_TERMS


def focuses(context: str | None, question: str) -> list[str]:
    """Return the aspects that the caller's context asks to focus on, each with the question's names if it needs
    them. What it says of the caller is left out."""
    found = [match for match in _FOCUS.findall(without_turns(context)) if not _OWN.search(match)]
    focused = [_BACKWARD.sub("", match).strip() for match in found]
    return with_names([focus for focus in focused if terms(focus)], subject_of(question))
