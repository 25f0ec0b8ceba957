"""Names of countries, and the adjectives of them: `German customers` are those of Germany.

A table of our own: pycountry and Babel know countries and languages, and no adjectives of them.
"""

from __future__ import annotations

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
