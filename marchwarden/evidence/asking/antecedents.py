"""Find the words that an incomplete question leaves out: in the turn before it, or in what is told."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from marchwarden.evidence.asking.completeness import BACKWARD, PERSON, Omission, names_of, omission_of, telling
from marchwarden.evidence.asking.telling_words import VAGUE_TERMS, NameRun, has_name, name_runs, words_of
from marchwarden.evidence.framing import ASKING, INVERTED, PREPOSITION, asked_text
from marchwarden.text.ranking import terms
from marchwarden.text.turns import Turn, telling_sentence, telling_sentences, turns_in, without_turns

# Words that are added to a question, at most. A guess.
MOST_LENT_WORDS = 8
# Words that name one person or firm. A guess.
_MOST_WORDS_OF_A_NAME = 3
_ASKS_WHO = re.compile(r"^\W*(?:\w+ )?(?:who|whom|wer|wen|wem|qui|quién(?:es)?|кто|кого)\b", re.IGNORECASE)
_ASKS_WHICH = re.compile(r"^\W*(?:\w+ )?(?:which|what (?:is|was|are|were) the)\b", re.IGNORECASE)
_ASKS_WHERE = re.compile(
    r"^\W*(?:(?:in|at|from|to|and) )*(?:where|(?:what|which) (?:town|city|country|place|state|island))\b",
    re.IGNORECASE,
)
_PLACED = re.compile(r"(?:in|at|near|from)\b", re.IGNORECASE)
_OF = re.compile(r"\b(?:of|von|vom|de|del|du|des) (?:the |der |dem |la |l['’]|el )?", re.IGNORECASE)
# "What do axolotls eat?": the subject stands between these.
_DO_SUPPORT = re.compile(rf"\b{ASKING}.*?\b(?:do|does|did) (?P<subject>.+)$", re.IGNORECASE)
_INNER_PREPOSITION = re.compile(rf"\s{PREPOSITION}", re.IGNORECASE)
_IS = re.compile(r"(?P<name>[^\W\d_a-z][\w’'-]+) (?:is|was|are|were|ist|war|sind|est|était|es|fue) ")
# "Lasker lost the title": who a sentence tells of, though a capital at its beginning tells no name.
_TELLS_OF = re.compile(
    r"(?P<name>[^\W\d_a-z][\w’'-]+) (?:is|was|has|had|became|won|lost|wrote|made|led|held|\w+ed)\b"
)
_ARTICLE = r"(?:the|der|dem|den|la|le|les|el|los|las)"
_NUMBER = re.compile(r"\d[\d.,]*")
# Words of the asker's own affairs, which are nobody else's business.
OWN = re.compile(
    r"\b(?!(?-i:US)\b)(?:the user|i|me|my|mine|we|us|our|because|since|as i|ich|mein\w*|wir|unser\w*|je|mon|mes|nous|"
    r"notre|nos|yo|mis?|soy|estoy|tengo|vivo|somos|nuestr[oa]s?)\b|\bj['’]",
    re.IGNORECASE,
)


def left_out(clause: str, context: str | None) -> list[str]:
    """Return the words without which a clause that asks can't be understood; none where it is complete by itself.

    They come from the last turn of a conversation, else from what the caller told. A sentence in which callers
    speak of themselves gives only a name, and only where a pronoun asks for one.
    """
    turns, told = turns_in(context), without_turns(context)
    last = turns[-1] if turns else None
    before, answer = (asked_text(last.question), telling_sentence(last)) if last else ("", "")
    omission = omission_of(clause, *filter(None, (before, answer, told)))
    if last and (meant := _member_meant(clause, last)):
        return meant
    if omission is None:
        return []
    words = _of_turn(omission, clause, _Said(before, answer, omission.language)) if last else []
    return (words or _of_context(omission, clause, told))[:MOST_LENT_WORDS]


def _member_meant(clause: str, turn: Turn) -> list[str]:
    """Return the words of what "the second one" is of the members that the answer lists; none where it lists none."""
    found = _ORDINAL.search(clause)
    if not found or has_name(clause):
        return []
    for sentence in telling_sentences(turn):
        members = _listed(sentence)
        place = _PLACE_OF[found["ordinal"].lower()]
        if len(members) > max(place, 1):
            return words_of(members[place])[:MOST_LENT_WORDS]
    return []


def _listed(sentence: str) -> list[str]:
    """Return the members of the list in a sentence, without articles: "the Tidal Hall, the Lantern Room and …"."""
    found = _LIST.search(sentence)
    members = re.split(r", (?:and |or )?| and | or ", found["list"]) if found else []
    return [re.sub(rf"^{_ARTICLE} ", "", member.strip(), flags=re.IGNORECASE) for member in members]


_PLACE_OF = {"first": 0, "second": 1, "third": 2, "fourth": 3, "fifth": 4, "last": -1, "former": 0, "latter": 1}
_ORDINAL = re.compile(
    rf"\bthe (?P<ordinal>{'|'.join(_PLACE_OF)})(?: (?:one|of (?:them|these|those)))?(?=\W*$| {INVERTED}| \w+\W*$)",
    re.I,
)
_MEMBER = r"(?:(?:the|an?) )?[\w’'-]+(?: (?!(?:and|or)\b)[\w’'-]+){0,3}"
_LIST = re.compile(
    r"(?:: |\b(?:are|is|includes?|including|has|have|with|namely|such as|like) )"
    rf"(?P<list>(?:{_MEMBER}, )*{_MEMBER},? (?:and|or) {_MEMBER})"
)


@dataclass(frozen=True)
class _Said:
    """The turn before."""

    question: str
    answer: str
    language: str

    @property
    def place(self) -> list[str]:
        """Words of the place that its answer gives and its question does not: of "born in Skelby and studied in
        Bergholm", the one behind the words of the question."""
        known = set(terms(self.question, self.language))
        told = [each for each in re.finditer(r"[\w’'-]+", self.answer) if known & set(terms(each[0], self.language))]
        for text in (self.answer[told[-1].end() :] if told else "", self.answer):
            for run in self.runs(f"x {text}"):
                if run.placed and not known & set(terms(" ".join(run.words), self.language)):
                    return list(run.words)
        return []

    def runs(self, text: str) -> list[NameRun]:
        """Return the names in one of its texts."""
        return runs_in(text, self.language)

    @property
    def topic(self) -> list[str]:
        """Words of its question that say what it is about; in German its nouns and numbers."""
        return topic_of(self.question, self.language)

    @property
    def asked_for(self) -> list[str]:
        """Words of the name that its answer gives and its question does not."""
        known = set(terms(self.question, self.language))
        # A capital tells no name where a sentence begins, but what is said to be what was asked for is one.
        begun = _IS.match(self.answer)
        if begun and set(terms(begun["name"], self.language)) - known:
            return [begun["name"]]
        new = [
            run
            for run in self.runs(self.answer)
            if any(word[:1].isupper() and set(terms(word, self.language)) - known for word in run.words)
        ]
        found = next((run for run in new if not run.placed), new[0] if new else None)
        if found is None:
            return []
        own = [word for word in found.words if set(terms(word, self.language)) - known]
        return own[:_MOST_WORDS_OF_A_NAME] if self.language == "de" else own


def topic_of(text: str, language: str) -> list[str]:
    """Return the words of a text that say what it is about; in German its nouns and numbers."""
    if language == "de":
        return list(dict.fromkeys(names_of(text, language)))
    return [word for word in telling(text, language) if set(terms(word, language)) - VAGUE_TERMS]


def runs_in(text: str, language: str) -> list[NameRun]:
    """Return the names in a text; in German, nouns that follow one another."""
    if language != "de":
        return list(name_runs(text))
    nouns = set(names_of(text, language))
    runs: list[NameRun] = []
    for found in re.finditer(r"[\w’'-]+(?: [\w’'-]+)*", text):
        run: list[str] = []
        for word in [*found[0].split(), ""]:
            if word in nouns:
                run.append(word)
            elif run and word not in ("da", "de", "van", "von"):
                runs.append(NameRun(tuple(run), placed=False))
                run = []
    return runs


def _of_turn(omission: Omission, clause: str, said: _Said) -> list[str]:
    """Return what the turn before tells of an omission."""
    asked_for = said.asked_for if _ASKS_WHO.match(said.question) or _ASKS_WHICH.match(said.question) else []
    if omission.kind == "exchange":
        gone = _replaced(omission.rest, said)
        return [word for word in said.topic if word not in gone]
    if omission.kind == "whole":
        return _unique([*asked_for, *said.topic])
    if said.language == "de":
        return _unique([*asked_for, *said.topic])
    runs = said.runs(said.question)
    undated = [word for word in said.topic if not _NUMBER.fullmatch(word)]
    if omission.kind == "person":
        people = [run for run in runs if not run.placed]
        if asked_for:
            return _unique([*asked_for, *([] if runs else undated)])
        return list(people[0].words) if people else said.asked_for or undated
    if omission.kind == "place":
        if _ASKS_WHERE.match(said.question) and said.place:
            return said.place
        placed = [run for run in runs if run.placed] or runs
        return asked_for or (list(placed[0].words) if placed else said.asked_for or undated)
    if _ASKS_WHO.match(said.question) and said.language == "en":
        asked_for = []  # "it" is nobody
    if runs:
        things = [word for word in undated if word.endswith("s")] if re.search(r"\bthe[ym]\b", clause, re.I) else []
        # "When did Vesuvius bury Pompeii?": "it" may be either.
        either = [word for run in runs[1:] if not run.placed for word in run.words][:_MOST_WORDS_OF_A_NAME]
        return _unique([*asked_for, *runs[0].words, *either, *things])
    if asked_for:
        return _unique([*asked_for, *undated])
    return _subject(said, is_owner=bool(re.search(r"\b(?:its|their|su|sus|son|sa|ses)\b", clause, re.I)))


def _replaced(rest: str, said: _Said) -> set[str]:
    """Return the words of a question that give way to a shorter one's: a place to a place, a year to a year."""
    if numbers := _NUMBER.findall(rest):
        return {word for word in said.topic if _NUMBER.fullmatch(word) and len(word) == len(numbers[-1])}
    preposition = rest.split()[0].casefold() if len(rest.split()) > 1 else ""
    behind = re.compile(
        rf"\b{re.escape(preposition)} (?:(?:the|der|dem|den|la|le|les|el|los|las) )?(?P<thing>.+)", re.I
    )
    if preposition and (found := list(behind.finditer(said.question))):
        until = re.split(rf"\s(?={PREPOSITION})|[,;?]", found[-1]["thing"])[0]
        return set(topic_of(f"x {until}", said.language)[:_MOST_WORDS_OF_A_NAME])
    if not any(map(str.isupper, rest)):
        return set()
    if said.language == "de":
        placed = re.findall(r"\b(?:in|im|aus|bei|nach|auf|am) (?:der |dem |den )?(\w+)", said.question)
        return {word for word in (placed if preposition else said.topic)[-1:] if word in said.topic}
    runs = said.runs(said.question)
    if _PLACED.match(rest):
        runs = [run for run in runs if run.placed] or runs
    words = list(runs[-1].words) if runs else []
    # "the GDP of France": what stands before "of" stays.
    owned = [
        at for at, word in enumerate(words) if re.search(rf"{_OF.pattern}{re.escape(word)}", said.question, re.I)
    ]
    return set(words[owned[-1] if owned else 0 :])


def _subject(said: _Said, *, is_owner: bool) -> list[str]:
    """Return the words of what a question without names is about: the owner in "the density of ethanol" where
    something else of it is asked for, and of "What do axolotls eat?" all but the verb."""
    if is_owner and (of := list(_OF.finditer(said.question))):
        return topic_of(said.question[of[-1].end() :], said.language)
    if said.language == "en" and (done := _DO_SUPPORT.search(said.question)):
        until = _INNER_PREPOSITION.split(done["subject"])[0]
        words = topic_of(until, "en")
        if len(words) > 1 and not re.match(r"(?:i|we|you)\b", until, re.I):
            return words[:-1]
    return said.topic


def _of_context(omission: Omission, clause: str, told: str) -> list[str]:
    """Return what the caller's own words tell of an omission."""
    language = omission.language
    each = [sentence for sentence in re.split(r"(?<=[.!?;])\s+", told) if sentence]
    others, own = [text for text in each if not OWN.search(text)], [text for text in each if OWN.search(text)]
    last = [word for word in topic_of(others[-1] if others else "", language) if not _NUMBER.search(word)]
    if omission.kind in ("exchange", "whole") and last:
        return last if omission.kind == "whole" or len(telling(clause, language)) < 2 else []
    if omission.kind == "exchange" and len(telling(clause, language)) > 1:
        return []
    return named_in(others, clause, language) or last or ([] if language == "de" else named_in(own, clause, language))


def named_in(texts: Iterable[str], clause: str, language: str = "en", *, also_places: bool = True) -> list[str]:
    """Return the words of the name that `clause` most likely means: the first in the texts that fits its pronoun."""
    for text in texts:
        runs: Sequence[NameRun] = runs_in(text, language)
        if re.search(r"\bthere\b", clause, re.IGNORECASE):
            runs = [run for run in runs if run.placed] or runs
        elif PERSON.search(clause) or not also_places:
            people = [run for run in runs if not run.placed]
            begun = _TELLS_OF.match(text) if PERSON.search(clause) and not people else None
            if begun and terms(begun["name"], language) and not BACKWARD.fullmatch(begun["name"]):
                return [begun["name"]]
            runs = people or (runs if also_places and not PERSON.search(clause) else [])
        if runs:
            return list(runs[0].words)[:MOST_LENT_WORDS]
    return []


def _unique(words: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(words))
