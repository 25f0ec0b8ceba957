"""Names of countries, and the adjectives of them: `German customers` are those of Germany.

A table of our own: pycountry and Babel know countries and languages, and no adjectives of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

# Adjectives, with the names under which tables keep their countries; all in lower case.
_LISTED = """
afghan afghanistan | albanian albania | algerian algeria
american usa, united states, united states of america, us | argentinian argentina | argentine argentina
armenian armenia | australian australia | austrian austria | bangladeshi bangladesh | belarusian belarus
belgian belgium | bolivian bolivia | bosnian bosnia and herzegovina | brazilian brazil
british uk, united kingdom, great britain, britain, gb | bulgarian bulgaria | cambodian cambodia
cameroonian cameroon | canadian canada | chilean chile | chinese china | colombian colombia
costa-rican costa rica | croatian croatia | cuban cuba | cypriot cyprus | czech czech republic, czechia
danish denmark | dutch netherlands, the netherlands, holland | ecuadorian ecuador | egyptian egypt
english england | estonian estonia | ethiopian ethiopia | filipino philippines | finnish finland | french france
georgian georgia | german germany | ghanaian ghana | greek greece | hungarian hungary | icelandic iceland
indian india | indonesian indonesia | iranian iran | iraqi iraq | irish ireland | israeli israel | italian italy
jamaican jamaica | japanese japan | jordanian jordan | kenyan kenya | latvian latvia | lebanese lebanon
lithuanian lithuania | malaysian malaysia | maltese malta | mexican mexico | moroccan morocco | nepalese nepal
nigerian nigeria | norwegian norway | pakistani pakistan | peruvian peru | polish poland | portuguese portugal
romanian romania | russian russia, russian federation | saudi saudi arabia | scottish scotland | serbian serbia
singaporean singapore | slovak slovakia | slovenian slovenia | spanish spain | sudanese sudan | swedish sweden
swiss switzerland | syrian syria | taiwanese taiwan | thai thailand | tunisian tunisia | turkish turkey, türkiye
ukrainian ukraine | uruguayan uruguay | venezuelan venezuela | vietnamese vietnam | welsh wales
zimbabwean zimbabwe
"""

COUNTRIES: Mapping[str, tuple[str, ...]] = {
    adjective: tuple(each.strip() for each in names.split(","))
    for line in _LISTED.strip().splitlines()
    for adjective, _, names in (each.strip().partition(" ") for each in line.split("|"))
}
_CONTINENTS = "africa african america american asia asian europe european"
PLACES = frozenset(
    word for names in (COUNTRIES, *COUNTRIES.values(), _CONTINENTS.split()) for name in names for word in name.split()
)
"""Words of the names of countries and continents and of their adjectives, in small letters."""
# Names that are no other names or words, and what else a country is called. Georgia is also a state, and "us" a word.
_KEY_OF = {
    **{name: names[0] for names in COUNTRIES.values() for name in names if name not in ("us", "georgia", "jordan")},
    **dict.fromkeys(("america", "u.s.", "u.s.a."), "usa"),
    **dict.fromkeys(("u.k.", "england", "scotland", "wales", "northern ireland"), "uk"),
}
_FORMS = {
    **_KEY_OF,
    **{adjective: _KEY_OF[names[0]] for adjective, names in COUNTRIES.items() if names[0] in _KEY_OF},
    **dict.fromkeys(("english", "scottish", "welsh"), "uk"),
}


def _pattern(words: Mapping[str, str]) -> re.Pattern[str]:
    listed = "|".join(map(re.escape, sorted(words, key=len, reverse=True)))
    return re.compile(rf"(?<![\w-])(?:{listed})(?![\w-])", re.IGNORECASE)


_NAME, _FORM = _pattern(_KEY_OF), _pattern(_FORMS)
_IN_CAPITALS = re.compile(r"(?<![\w-])US(?![\w-])")


def countries_in(text: str, *, by_adjective: bool = False) -> frozenset[str]:
    """Return keys of the countries that an English text names: `uk` for "Great Britain".

    With `by_adjective`, "British" counts, too; but a French press is not from France.
    """
    found = {_FORMS[each.lower()] for each in (_FORM if by_adjective else _NAME).findall(text)}
    return frozenset(found | {"usa"} if _IN_CAPITALS.search(text) else found)
