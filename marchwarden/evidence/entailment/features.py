"""Numbers that tell how a claim and its quotes differ: words that are missing or moved, and what each rule says.

judge/ turns them into a probability. They read English, like the rules; of other languages they see words, names and
numbers.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import pairwise

from marchwarden.evidence.entailment.number_rules import missing_amounts
from marchwarden.evidence.entailment.pair import Pair, lower_words, split_sentences
from marchwarden.evidence.entailment.rules import RULES
from marchwarden.judge.thesaurus import Relation, load_thesaurus
from marchwarden.text.ranking import terms, terms_of

# Sentences that are looked at together where more are cited. Chosen on the fitting data of evals/claims/fit.py.
MAX_SENTENCES = 4
# Function words by which a sentence means more, less or the contrary: whether claim and quote both have them.
_MARKERS: Mapping[str, re.Pattern[str]] = {
    name: re.compile(rf"\b(?:{words})\b", re.IGNORECASE)
    for name, words in {
        "not": r"not|no|never|none|neither|nor|cannot|without|\w+n['’]t|unable|fail(?:s|ed)?|lacks?|instead|rather",
        "may": r"may|might|could|possibl[ey]|perhaps|maybe|probabl[ey]|likely|potential(?:ly)?|suggest\w*|"
        r"appears?|seems?|reportedly|alleg\w+",
        "plan": r"will|plans?|planned|intends?|expect(?:s|ed)?|scheduled|proposed|propos\w+|going to|"
        r"should|aims?|would",
        "must": r"must|has to|have to|required?|requires|need(?:s|ed)?|mandatory|obliged",
        "can": r"can|able|allow(?:s|ed)?|lets?|possible",
        "all": r"all|every|everyone|always|each|any|entire(?:ly)?|whole|completely|fully|everything|both",
        "some": r"some|most|many|several|few|often|usually|typically|sometimes|generally|partly|mostly|"
        r"mainly|nearly|almost|half|certain",
        "only": r"only|solely|exclusively|just|alone|sole",
        "if": r"if|unless|except|provided|when|once|until|as long as|depending|in case|only if|whenever",
        "cause": r"because|since|due to|caused?|causes|as a result|owing to|led to|leads? to|thanks to|"
        r"therefore|reason|so that|results? in|made|makes?",
        "time": r"before|after|during|while|until|since|then|later|earlier|first|finally|previously",
        "past": r"was|were|had|former(?:ly)?|used to|previously|did|no longer",
        "now": r"is|are|has|have|currently|now|still|today|remains?",
        "more": r"more|\w{2,}er than|higher|larger|greater|better|above|over|exceed\w*|at least|increase\w*|rose|up",
        "less": r"less|fewer|lower|smaller|worse|below|under|at most|decrease\w*|fell|down|reduc\w*|drop\w*",
        "about": r"about|around|approximately|roughly|nearly|almost|estimated|up to|at least|more than|"
        r"less than|over",
        "exact": r"exactly|precisely|in total|altogether",
        "or": r"or|either",
        "by": r"by",
        "than": r"than",
        "said": r"said|says|according|told|claims?|claimed|believes?|argued?|reports?|states?",
        "first": r"first|last|best|worst|most|least|largest|smallest|highest|lowest|oldest|newest|\w{3,}est",
    }.items()
}  # fmt: skip


def choose_sentences(claim: str, excerpts: Sequence[str], weigh: Callable[[str], float]) -> list[str]:
    """Return the few sentences that together hold most of the claim, in their order; all where they are few."""
    found = [sentence for excerpt in excerpts for sentence in split_sentences(excerpt) or [excerpt]]
    if len(found) <= MAX_SENTENCES:
        return found
    wanted = set(terms(claim))
    held = [wanted & set(each) for each in terms_of(found)]
    chosen: list[int] = []
    covered: set[str] = set()
    for _ in range(MAX_SENTENCES):
        gains = [sum(map(weigh, each - covered)) + 0.01 * sum(map(weigh, each)) for each in held]
        best = max(range(len(found)), key=lambda place: (place not in chosen, gains[place]))
        if chosen and not held[best] - covered:
            break
        chosen.append(best)
        covered |= held[best]
    return [found[place] for place in sorted(chosen)]


def measure(claim: str, excerpts: Sequence[str], around: str, weigh: Callable[[str], float]) -> dict[str, float]:
    """Return the features of a claim beside its excerpts, by name. `weigh` gives a term's weight."""
    chosen = choose_sentences(claim, excerpts, weigh)
    text = " ".join(chosen)
    wanted = list(dict.fromkeys(terms(claim)))
    by_sentence = [set(each) for each in terms_of(chosen)]
    everywhere = set().union(*by_sentence) if by_sentence else set()
    lent = set(terms(around))
    weight = {term: weigh(term) for term in wanted}
    total = sum(weight.values()) or 1.0
    shares = [sum(weight[term] for term in wanted if term in each) / total for each in by_sentence] or [0.0]
    best = shares.index(max(shares))
    sentence = chosen[best] if chosen else ""
    pair = Pair(claim, text, around)
    missing = [term for term in wanted if term not in everywhere]
    words = [term for term in missing if not term[0].isdigit()]
    name_terms = {term for name in pair.names if claim.find(name) > 0 or " " in name for term in terms(name)}
    similar = [term for term in words if any(_is_kin(term, other) for other in everywhere)]
    unlike = [weight[term] for term in missing if term not in lent and term not in similar]
    found: dict[str, float] = {
        "share": sum(weight[term] for term in wanted if term in everywhere) / total,
        "share_best": max(shares),
        "share_joined": sum(weight[term] for term in wanted if term in everywhere) / total - max(shares),
        "share_lent": sum(weight[term] for term in missing if term in lent) / total,
        "missing": len(missing),
        "missing_words": len(set(words) - name_terms - lent),
        "missing_names": len(name_terms & set(missing) - lent),
        "missing_numbers": len(missing_amounts(pair)),
        "missing_kin": len(similar),
        "missing_heaviest": max(unlike, default=0.0),
        "missing_mass": sum(unlike),
        "numbers": sum(term[0].isdigit() for term in wanted),
        "names": len(name_terms),
        "claim_terms": len(wanted),
        "quote_terms": len(everywhere),
        "used": len(everywhere & set(wanted)) / (len(everywhere) or 1),
        "used_best": len(by_sentence[best] & set(wanted)) / (len(by_sentence[best]) or 1) if by_sentence else 0.0,
        "sentences": len(chosen),
    }
    found |= _order(claim, sentence, weigh)
    found |= relations(pair, sentence, [term for term in words if term not in lent], everywhere, weigh)
    found |= _markers(claim, sentence, pair.segment)
    objections = [rule(pair) is not None for rule in RULES]
    found |= {f"rule_{rule.__name__}": float(is_one) for rule, is_one in zip(RULES, objections, strict=True)}
    found["rules"] = sum(objections)
    return found


# Words that are an edit rather than another wording of the whole. A guess.
_EDIT_WORDS = 3
_UNITS = frozenset(
    terms(
        "km kilometer kilometre meter metre cm mm mile foot feet inch yard second minute hour day week "
        "month year decade century "
        "percent percentage point million billion trillion thousand hundred gb mb kb tb gram kg kilogram "
        "mg microgram pound ounce ton "
        "tonne liter litre gallon cup tablespoon teaspoon watt volt kilowatt amp degree celsius "
        "fahrenheit dollar euro acre hectare "
        "daily weekly monthly yearly annual annually hourly"
    )
)
_RELATIONS: tuple[Relation, ...] = ("same", "wider", "narrower", "opposite", "sibling", "none")


def relations(
    pair: Pair, sentence: str, missing: Sequence[str], known: set[str], weigh: Callable[[str], float]
) -> dict[str, float]:
    """Return how words that the quote lacks are related to those that it has, and exchanged words to each other."""
    thesaurus = load_thesaurus()
    names = {term for name in pair.names for term in terms(name)}
    mass = dict.fromkeys(_RELATIONS, 0.0)
    for term in missing:
        relation = thesaurus.closest(term, known) if term not in names else "none"
        if relation == "none" and any(_is_kin(term, other) for other in known):
            relation = "same"
        mass[relation] += weigh(term)
    exchanged = dict.fromkeys(_RELATIONS, 0)
    edited = dict.fromkeys(("same", "opposite", "other", "unit", "number", "dropped", "put_in"), 0)
    ours, theirs = lower_words(pair.claim), lower_words(sentence)
    operations = SequenceMatcher(None, theirs, ours, autojunk=False).get_opcodes()
    for tag, start, end, ours_start, ours_end in operations:
        old, new = set(terms(" ".join(theirs[start:end]))), set(terms(" ".join(ours[ours_start:ours_end])))
        here = [(term, thesaurus.closest(term, old)) for term in new - old] if tag == "replace" and old else []
        for _, relation in here:
            exchanged[relation] += 1
        if tag == "equal" or end - start > _EDIT_WORDS or ours_end - ours_start > _EDIT_WORDS:
            continue
        # A few words are changed in the middle of others that are the same.
        if tag == "insert" and new - known:
            edited["put_in"] += 1
        if tag == "delete" and old and end < len(theirs):
            edited["dropped"] += 1
        for term, relation in here:
            if term[0].isdigit():
                edited["number"] += 1
            elif term in _UNITS and old & _UNITS:
                edited["unit"] += 1
            elif relation in ("same", "wider") or any(_is_kin(term, other) for other in old):
                edited["same"] += 1
            else:
                edited["opposite" if relation == "opposite" else "other"] += 1
    wanted = pair.claim_terms
    left = set(terms(pair.segment)) - wanted
    denied = sum(thesaurus.closest(term, left) == "opposite" for term in wanted - known)
    total = sum(map(weigh, wanted)) or 1.0
    unexplained = sum(mass[relation] for relation in ("narrower", "opposite", "sibling", "none"))
    return {
        **{f"lacks_{relation}": amount for relation, amount in mass.items()},
        **{f"exchanged_{relation}": float(times) for relation, times in exchanged.items()},
        **{f"edited_{what}": float(times) for what, times in edited.items()},
        "opposites": float(denied),
        "share_related": 1 - unexplained / total,
    }


def _is_kin(one: str, other: str) -> bool:
    """Return whether two stems begin alike: "Franc" and "French" do not, "product" and "produc" do."""
    least = min(len(one), len(other))
    return least >= 4 and one[: max(4, least - 2)] == other[: max(4, least - 2)]


def _order(claim: str, sentence: str, weigh: Callable[[str], float]) -> dict[str, float]:
    """Return how the words of the claim stand in the sentence: in runs, in order, exchanged, added or left out."""
    ours, theirs = lower_words(claim), lower_words(sentence)
    matcher = SequenceMatcher(None, theirs, ours, autojunk=False)
    kept = put_in = left_out = exchanged = one_for_one = longest = runs = 0
    added_weight = dropped_inside = 0.0
    operations = matcher.get_opcodes()
    placed = terms(sentence)
    everything = set(placed)
    for tag, start, end, ours_start, ours_end in operations:
        if tag == "equal":
            kept += end - start
            longest = max(longest, end - start)
            runs += 1
            continue
        new = [term for term in terms(" ".join(ours[ours_start:ours_end])) if term not in everything]
        old = terms(" ".join(theirs[start:end]))
        put_in += tag == "insert" and bool(new)
        left_out += tag == "delete" and bool(old)
        exchanged += tag == "replace" and bool(new)
        one_for_one += tag == "replace" and len(new) == 1 and len(old) == 1
        added_weight += sum(map(weigh, new))
        dropped_inside += len(old) if start > 0 and end < len(theirs) else 0
    bigrams = set(pairwise(ours))
    known = set(pairwise(theirs))
    first = {term: place for place, term in reversed([*enumerate(placed)])}
    shared = [first[term] for term in terms(claim) if term in first]
    turned = sum(later < earlier for earlier, later in pairwise(shared))
    sides = _sides(claim, sentence)
    inverted = sum(later < earlier for place, earlier in enumerate(shared) for later in shared[place + 1 :])
    pairs = len(shared) * (len(shared) - 1) / 2 or 1.0
    return {
        "kept": kept / (len(ours) or 1),
        "bigrams": len(bigrams & known) / (len(bigrams) or 1),
        "longest_run": longest / (len(ours) or 1),
        "runs": runs,
        "put_in": put_in,
        "left_out": left_out,
        "exchanged": exchanged,
        "one_for_one": one_for_one,
        "added_weight": added_weight,
        "dropped_inside": dropped_inside,
        "turned": turned,
        "inverted": inverted / pairs,
        "starts_alike": float(ours[:2] == theirs[:2]),
        "ends_alike": float(ours[-1:] == theirs[-1:]),
        "length_ratio": math.log((len(ours) + 1) / (len(theirs) + 1)),
        "letters": _letters(claim, sentence),
        **sides,
    }  # fmt: skip


_PASSIVE = re.compile(
    r"\b(?:is|are|was|were|be|been|being)\s+(?:\w+ly\s+)?\w+(?:ed|en|wn|lt|ught|ld|de|id|pt|nt)\b", re.IGNORECASE
)


def _sides(claim: str, sentence: str) -> dict[str, float]:
    """Return where the claim's first and last word stand in the sentence, and whether one of both is passive."""
    ours, theirs = terms(claim), terms(sentence)
    first = next((theirs.index(term) for term in ours if term in theirs), None)
    last = next((len(theirs) - theirs[::-1].index(term) for term in reversed(ours) if term in theirs), None)
    voices = bool(_PASSIVE.search(claim)) != bool(_PASSIVE.search(sentence))
    length = len(theirs) or 1
    backwards = first is not None and last is not None and last <= first
    return {
        "first_place": 1.0 if first is None else first / length,
        "last_place": 0.0 if last is None else last / length,
        "backwards": float(backwards),
        "other_voice": float(voices),
        "backwards_same_voice": float(backwards and not voices),
    }


def _letters(claim: str, sentence: str) -> float:
    """Return the share of the claim's groups of four letters that the sentence has."""
    ours, theirs = (
        {plain[place : place + 4] for place in range(len(plain) - 3)}
        for plain in (f" {' '.join(lower_words(text))} " for text in (claim, sentence))
    )
    return len(ours & theirs) / (len(ours) or 1)


def _markers(claim: str, sentence: str, segment: str) -> dict[str, float]:
    found: dict[str, float] = {}
    for name, marker in _MARKERS.items():
        here, there = len(marker.findall(claim)), len(marker.findall(segment))
        anywhere = bool(marker.search(sentence))
        found[f"{name}_added"] = float(here > 0 and not anywhere)
        found[f"{name}_dropped"] = float(there > 0 and here == 0)
        found[f"{name}_differ"] = here - there
    return found
