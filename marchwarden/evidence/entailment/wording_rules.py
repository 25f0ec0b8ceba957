"""Claims that say more than their excerpt: the opposite, more surely, more widely, without its condition, of another
time, or with a detail of their own."""

from __future__ import annotations

import re

from marchwarden.evidence.entailment.pair import Pair, lower_words, terms_around
from marchwarden.text.ranking import terms

# Content words that make a detail of its own, and words of an excerpt that say what its condition is. Guesses.
DETAIL_TERMS, CONDITION_WORDS = 2, 5

# Opposites: words of one meaning, then those of the other. Made by hand for English, and grown by what the pairs of
# evals/claims/pairs.jsonl missed.
_ANTONYMS: tuple[tuple[str, str], ...] = (
    (
        "rise rises rose risen rising soar soared surge surged jump jumped increase increases increased increasing "
        "grow grows grew grown gain gains gained climb climbed up higher more",
        "fall falls fell fallen falling slide slid plunge plunged tumble tumbled slump slumped decrease decreases "
        "decreased decreasing decline declines declined drop drops dropped shrink shrank down lower less fewer",
    ),
    ("before earlier until", "after later since"),
    ("minimum least lowest smallest fewest", "maximum most highest largest greatest"),
    (
        "legal lawful permitted allowed allows allow permits permit",
        "illegal unlawful prohibited banned forbidden bans ban",
    ),
    ("first earliest oldest", "last latest newest final"),
    ("win wins won winning victory", "lose loses lost losing defeat"),
    ("accept accepts accepted approve approves approved", "reject rejects rejected refuse refused denied"),
    ("open opens opened opening", "close closes closed closing"),
    ("start starts started begin begins began", "end ends ended stop stops stopped finish finished"),
    ("safe", "unsafe dangerous harmful toxic"),
    ("free", "paid charge charged"),
    ("hot hotter warm warmer", "cold colder cool cooler"),
    ("support supports supported favour favor favours favors backed", "oppose opposes opposed against"),
    ("strengthen strengthened improve improves improved better best", "weaken weakened worsen worsened worse worst"),
    ("early", "late"),
    ("north northern", "south southern"),
    ("east eastern", "west western"),
    ("left", "right"),
    ("above over", "below under beneath"),
    ("inside indoor indoors", "outside outdoor outdoors"),
    ("public", "private"),
    ("male men man", "female women woman"),
    ("required mandatory compulsory requires must", "optional voluntary"),
    ("include includes included including", "exclude excludes excluded excluding except"),
    ("majority", "minority"),
    ("upheld uphold upholds", "struck overturned overturn"),
    ("praised praise praises hailed", "panned pan criticised criticized attacked"),
    ("doubled tripled", "halved"),
    ("sped accelerated quickened", "slowed"),
    ("steeper steep", "levels flatter flat"),
    ("saltier salty", "fresher fresh"),
    ("import imports imported", "export exports exported"),
    ("buy buys bought", "sell sells sold"),
    ("present", "absent"),
    ("positive", "negative"),
    ("full", "empty"),
    ("dry", "wet"),
    ("hard", "soft"),
    ("raise raises raised", "cut cuts lowered reduce reduces reduced"),
    ("guilty convicted", "innocent acquitted"),
    ("dead died", "alive survived"),
    ("enable enables enabled", "disable disables disabled"),
    ("add adds added", "remove removes removed"),
    ("success succeeded successful", "failure failed unsuccessful"),
    ("deep deeper", "shallow shallower"),
    ("old older", "young younger new newer"),
    ("long longer", "short shorter"),
    ("heavy heavier", "light lighter"),
    ("fast faster", "slow slower"),
)
_OPPOSITES = [(set(one.split()), set(other.split())) for one, other in _ANTONYMS]
_OPPOSITES += [(other, one) for one, other in _OPPOSITES]
_PREFIXES = ("un", "in", "im", "ir", "il", "non", "non-", "dis", "mis")
_NEGATION = re.compile(
    r"\b(?:not|no|never|none|nobody|nothing|neither|nor|cannot|without|hardly|rarely|fail(?:s|ed)? to|"
    r"lack(?:s|ed|ing)?|refus\w+ to|declin\w+ to|unable to|stopped short of|instead of|rather than|yet to|free of|"
    r"absence of|wrong to|\w{3,}less)\b|n['’]t\b|\bun(?!der|ion|it|til|iv|iq|cle|less)\w{4,}|"
    r"\bin(?:adequate|complete|effective|eligible|capable|sufficient|valid|accurate)\w*|"
    r"\b(?:il|ir|im)(?:legal|regular|possible|responsible|perfect|movable)\w*|\bnon-?\w{3,}",
    re.IGNORECASE,
)
# "May" is a month, so these are read as they are written.
_DOUBT = re.compile(
    r"\b(?:may|might|could|would|possibl[ey]|perhaps|maybe|probabl[ey]|likely|unlikely|potential(?:ly)?|suggest\w*|"
    r"appears?|appeared|seems?|seemed|reportedly|alleg\w+|rumou?r\w*|believed?|thought to|consider(?:s|ed|ing)?|"
    r"(?<!the )(?<!its )(?<!their )(?<!his )(?<!her )proposed|proposes?|tentative\w*|preliminary|unconfirmed|"
    r"estimated?|accus\w+|claims?|claimed|in talks|hopes?|hoped|suspect\w*|according to|said|says)\b"
)
# Words that only name who says it. They keep a claim's own doubt, but are none that a claim has to keep.
_TELLS = {"said", "says", "according to"}
_PLAN = re.compile(
    r"\b(?:plans?|planned|planning|intends?|intended|aims?|expects?|expected (?:to|in|by)|projected to|forecast to|"
    r"scheduled (?:to|for)|due (?:to|in|on|for)|seeks? to|will|going to|set to|should|hopes? to)\b"
)
_DONE = re.compile(r"\b(?:has|have|had|was|were|did|\w{3,}ed)\b", re.IGNORECASE)
_SURE = re.compile(
    r"\b(?:prove[sdn]?|proof|certain(?:ly)?|definite(?:ly)?|guarantee[sd]?|undoubtedly|confirm(?:s|ed)?|always|will|"
    r"conclusively|establish(?:es|ed)?)\b",
    re.IGNORECASE,
)
_ALL = re.compile(
    r"\b(?:all|every|everyone|everybody|everywhere|each|any|anyone|always|entire(?:ly)?|whole|whatever|wherever|"
    r"nationwide|worldwide|universal(?:ly)?|completely|fully|only|none|nobody|"
    r"(?:across|around) the (?:country|world)|in general|generally|solely|exclusively|never|both)\b",
    re.IGNORECASE,
)
_SOME = re.compile(
    r"\b(?:some|most|many|several|few|a few|half|part of|partly|partially|certain|majority|nearly|almost|mostly|"
    r"mainly|often|sometimes|usually|typically|occasionally|selected|two thirds|one in \w+|a third of|a quarter of|"
    r"in part|limited|up to|as many as|at least|at most|about|around|roughly|approximately)\b",
    re.IGNORECASE,
)
_SAMPLE = re.compile(
    r"\b(?:(?:one|a|this|the|small|pilot|recent|single|lab(?:oratory)?|animal) "
    r"(?:study|trial|survey|poll|experiment|sample|review)|in mice|in rats|in vitro|participants|respondents|"
    r"volunteers|patients in|surveyed)\b",
    re.IGNORECASE,
)
_SAMPLE_TOLD = re.compile(
    r"\b(?:stud(?:y|ies)|trials?|surveys?|polls?|experiments?|samples?|reviews?|mice|rats|participants|respondents|"
    r"volunteers|patients|surveyed|researchers|found|vitro)\b",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"\b(?:if|unless|except|excepting|only|provided(?: that)?|as long as|so long as|on condition|in case|excluding|"
    r"other than|apart from|subject to|depending on|when|once|for up to|for no more than|with (?:a|an|the) "
    r"(?:prescription|permit|licen[cs]e|valid|written|doctor|receipt|membership|subscription|reservation)|"
    r"without (?:a|an)|under (?:the age|\d+)|over (?:the age|\d+)|aged|until|through|before|after|during|between|"
    r"while supplies|from \w+ (?:to|until|through) \w+|"
    r"for (?:the )?(?:first|new|students|members|residents|children|adults|seniors))\b",
    re.IGNORECASE,
)
_CONDITION_TOLD = re.compile(
    r"\b(?:if|unless|when|provided|as long as|only|once|while|except|without|under|over|until)\b|\bunder-",
    re.IGNORECASE,
)
_PAST = re.compile(
    r"\b(?:was|were|had|former(?:ly)?|ex-|previously|used to|no longer|once|did|until)\b", re.IGNORECASE
)
_NOW = re.compile(r"\b(?:is|are|has been|have been|current(?:ly)?|now|today|remains?|still|does|do)\b", re.IGNORECASE)
_PERFECT = re.compile(r"\b(?:has|have|had)\s+(?:already\s+)?(?:been\s+)?\w+", re.IGNORECASE)
_GOING_ON = re.compile(r"\b(?:is|are)\s+(?:being\s+\w+ed|(?:still\s+)?\w{3,}ing)\b", re.IGNORECASE)
_FORMER = re.compile(r"\b(?:former(?:ly)?|ex-|previously|used to|no longer|until \d{4})\b", re.IGNORECASE)
_DETAIL = re.compile(
    r",\s+|\s+(?=(?:because|in order to|so that|so as to|to [a-z]+|for|which|who|where|during|despite|thanks to|"
    r"due to|as part of|with|without|after|before|by|in|at|from|under)\s)",
    re.IGNORECASE,
)


def find_antonym(pair: Pair) -> str | None:
    """Return a word of the claim in whose place the excerpt has its opposite."""
    ours, theirs = set(lower_words(pair.claim)), set(lower_words(pair.excerpt))
    # "free" is "at no charge": with a negation on one side, opposites say the same.
    one_denies = bool(_NEGATION.search(pair.claim)) != bool(_NEGATION.search(pair.sentence))
    for one, other in () if one_denies else _OPPOSITES:
        said, meant = ours & one, theirs & other
        if said and meant and not theirs & one and not ours & other and not _is_turned(pair, min(said), min(meant)):
            return f"the excerpt says {min(meant)}, the claim {min(said)}"
    for word in sorted(ours ^ theirs):
        for bare in (word.removeprefix(prefix) for prefix in _PREFIXES if word.startswith(prefix)):
            differ = (word in ours and bare in theirs - ours) or (word in theirs and bare in ours - theirs)
            # "unbeaten" is "not beaten"
            if len(bare) >= 4 and differ and not _NEGATION.search(pair.claim if bare in ours else pair.sentence):
                return f"one of claim and excerpt says {word}, the other {bare}"
    return None


def _is_turned(pair: Pair, here: str, there: str) -> bool:
    """Return whether the sides of the two words are exchanged: "A before B" is "B after A"."""
    ours, theirs = terms_around(pair.claim, here), terms_around(pair.sentence, there)
    if ours is None or theirs is None:
        return False
    front, back = ours[0] - ours[1], ours[1] - ours[0]
    front_there, back_there = theirs[0] - theirs[1], theirs[1] - theirs[0]
    crossed = len(front & back_there) + len(back & front_there)
    return crossed > 0 and crossed >= len(front & front_there) + len(back & back_there)


def find_negation(pair: Pair) -> str | None:
    """Return a negation that only one of claim and excerpt has, about a term that both have."""

    def denied(text: str) -> set[str]:
        """Return the three terms behind each negation, or the word that is one."""
        found = set()
        for match in _NEGATION.finditer(text):
            alone = len(match[0]) > 7 and " " not in match[0]
            behind = re.split(r"[,;.]", text[match.end() :], maxsplit=1)[0]
            found |= set(terms(match[0])) if alone else set(terms(behind)[:3])
        return found

    if _NEGATION.search(pair.claim) and _NEGATION.search(pair.excerpt):
        return None  # which of the two denies more is not told by words
    both = pair.claim_terms & set(terms(pair.segment))
    differ = (denied(pair.claim) ^ denied(pair.segment)) & both
    return "one of claim and excerpt denies what the other says" if differ else None


def find_added_certainty(pair: Pair) -> str | None:
    """Return a doubt or a plan of the excerpt that the claim tells as a fact, or a certainty of the claim's own."""
    doubt = _DOUBT.search(pair.segment)
    if doubt and doubt[0] not in _TELLS and not _DOUBT.search(pair.claim):
        planned = doubt[0] in ("would", "could") and _PLAN.search(pair.claim)
        if not planned and not re.search(r"\bcan\b", pair.claim):
            return f"the excerpt says it with “{doubt[0]}”"
    plan = _PLAN.search(pair.segment)
    # "will create" may be said of a tool, and is "creates"; of what is done it is not.
    is_fact = plan and (plan[0] != "will" or _DONE.search(pair.claim))
    if plan and is_fact and not _PLAN.search(pair.claim) and not _DOUBT.search(pair.claim):
        return f"the excerpt says it with “{plan[0]}”"
    sure = _SURE.search(pair.claim)
    if sure and not any(said.search(pair.excerpt) for said in (_SURE, _PLAN, _DOUBT)):
        return f"no excerpt says “{sure[0]}”"
    return None


def find_wider_scope(pair: Pair) -> str | None:
    """Return a word by which the claim covers more than the excerpt: all for some, everywhere for one study."""
    universal = _ALL.search(pair.claim)
    if universal and not _ALL.search(pair.excerpt):
        return f"no excerpt says “{universal[0]}”"
    part = _SOME.search(pair.segment)
    if part and not _SOME.search(pair.claim):
        of_what = set(terms(pair.segment[part.end() : part.end() + 60])[:3])
        if of_what & pair.claim_terms:
            return f"the excerpt says “{part[0]}”"
    sample = _SAMPLE.search(pair.sentence)
    if sample and not _DOUBT.search(pair.claim) and not _SAMPLE_TOLD.search(pair.claim):
        return f"the excerpt says it of “{sample[0]}”"
    return None


def find_dropped_condition(pair: Pair) -> str | None:
    """Return a condition or exception of the excerpt that the claim leaves out."""
    for found in _CONDITION.finditer(pair.segment):
        condition = set(terms(" ".join(pair.segment[found.start() :].split()[:CONDITION_WORDS])))
        kept = found[0].split()[0].casefold() in lower_words(pair.claim) or _CONDITION_TOLD.search(pair.claim)
        if condition and len(condition - pair.claim_terms) > 0.5 * len(condition) and not kept:
            return f"the excerpt says “{found[0]}”, the claim leaves that out"
    return None


def find_other_time(pair: Pair) -> str | None:
    """Return a past that the claim tells as present, or something going on that it tells as done."""
    if _PERFECT.search(pair.claim) and _GOING_ON.search(pair.sentence) and not _PERFECT.search(pair.sentence):
        return "the excerpt says that it is still going on"
    past = _FORMER.search(pair.segment) or (
        _NOW.search(pair.claim) and _PAST.search(pair.segment) and not _NOW.search(pair.sentence)
    )
    return "the excerpt says it of the past" if past and not _PAST.search(pair.claim) else None


def find_added_detail(pair: Pair) -> str | None:
    """Return a detail of the claim of which the excerpt has no word."""
    lent = set(terms(pair.around))
    for detail in _DETAIL.split(pair.claim):
        said = {term for term in terms(detail) if not term.isdigit()}
        if len(said) >= DETAIL_TERMS and not said & (pair.excerpt_terms | lent):
            return f"no excerpt says “{detail.strip()}”"
    return None
