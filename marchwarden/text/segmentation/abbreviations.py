"""Abbreviations that sentencex does not know, by language, and the languages of each script.

Words stand without their last full stop and in lower case.
"""

from __future__ import annotations

import regex

# The language of a word in each script where the page's own language is not written in that script.
_LIKELIEST = {
    "Latin": "en",
    "Cyrillic": "ru",
    "Greek": "el",
    "Arabic": "ar",
    "Devanagari": "hi",
    "Hangul": "ko",
    "Hiragana": "ja",
    "Katakana": "ja",
    "Han": "zh",
    "Armenian": "hy",
    "Georgian": "ka",
    "Hebrew": "he",
}
_WRITTEN_IN = {
    "Cyrillic": frozenset({"ru", "uk", "bg", "sr", "mk", "be", "kk", "ky", "mn", "tg"}),
    "Greek": frozenset({"el"}),
    "Arabic": frozenset({"ar", "fa", "ur", "ps", "ckb", "sd", "ug"}),
    "Devanagari": frozenset({"hi", "mr", "ne", "sa"}),
    "Hangul": frozenset({"ko"}),
    "Hiragana": frozenset({"ja"}),
    "Katakana": frozenset({"ja"}),
    "Han": frozenset({"zh", "ja", "yue"}),
    "Armenian": frozenset({"hy"}),
    "Georgian": frozenset({"ka"}),
    "Hebrew": frozenset({"he", "yi"}),
}
_NOT_LATIN = frozenset({"am", "bn", "km", "lo", "my", "ta", "te", "th"}).union(*_WRITTEN_IN.values())
_SCRIPTS = "|".join(rf"(?P<{script}>\p{{{script}}})" for script in _LIKELIEST)
_FIRST_LETTER = regex.compile(_SCRIPTS)
_LAST_LETTER = regex.compile(_SCRIPTS, regex.REVERSE)


# Languages that write "19." for "19th".
ORDINAL_DOT = frozenset(
    {"bs", "cs", "da", "de", "et", "fi", "fo", "hr", "hu", "is", "lv", "nb", "nn", "no", "pl", "sk", "sl", "sr", "tr"}
)


def main_language(language: str) -> str:
    """Return the language of a tag: `de` of `de-AT`."""
    return language.replace("_", "-").partition("-")[0].lower()


def language_of_word(before: str, after: str, page_language: str) -> str:
    """Return the language of the last letter of `before`, or of the first letter of `after`.

    It is the page's where that is written in the letter's script, else the likeliest of the script.
    """
    if before[-1:].isascii() and before[-1:].isalpha():
        return page_language if page_language not in _NOT_LATIN else _LIKELIEST["Latin"]
    letter = _LAST_LETTER.search(before) or _FIRST_LETTER.search(after)
    if letter is None:
        return page_language
    script = str(letter.lastgroup)
    fits = page_language not in _NOT_LATIN if script == "Latin" else page_language in _WRITTEN_IN[script]
    return page_language if fits else _LIKELIEST[script]


def _words(*listed: str) -> frozenset[str]:
    return frozenset(" ".join(listed).split())


# Abbreviations that never end a sentence: titles, explanations, units.
NEVER_LAST = {
    "en": _words("al approx avg cf cv cvs est incl mt resp sp spp ssp st subsp var vs"),
    "de": _words(
        "abk allg amtl bd betr bez bspw bzgl bzw ca dgl dipl.-ing dr.-ing eigtl einschl evtl exkl ggf hptst",
        "hrsg inkl insb insbes jh lt max min mind mio mrd nr od orig rd sog tägl u urspr v vgl zit zzgl",
    ),
    "fr": _words("av c.-à-d ca cf chap dir dr env ex hab j.-c m max mgr min mlle mm mme mmes r resp st ste vol éd"),
    "es": _words(
        "aprox art avda cap cía d dir dra dras dña ed ej excmo ilmo lic máx mín núm prof profa pza pág págs",
        "sr sra sras sres srta tel ud uds vid vol",
    ),
    "it": _words(
        "arch art avv ca cap cfr cit d.l d.lgs dott dott.ssa dr ecc.mo es fam fig geom ing lett min n on pag",
        "pagg prof prof.ssa rag sec sen sig sig.na sig.ra sigg vol",
    ),
    "pt": _words(
        "aprox arq art av cap cf cit dr dra ed eng ex exmo fig jr máx mín prof profa pág págs r sr sra sras",
        "srs trav vol",
    ),
    "ru": _words(
        "акад в вв вып г гг гл гр д др им кв лат лит млн млрд напр обл оз ок пер пл пр просп проф р рис род с",
        "св см ср ст стр т тел тов тыс ул ум экз",
    ),
    "hy": _words("թ թթ"),
    "ar": _words("أ أ.د ب ب.م ت ث ج ج.م ح خ د د.م ر ز س ش ص ض ط ع غ ف ق ق.م ك ل م م.م ن ه هـ و ي"),
    "hi": _words(
        "इं ई ईपू उ.प्र एड एम.ए कि कि.मी कु क्र ग्रा डा डॉ न्या पं पू पृ प्रो बी.ए म.प्र मी मो रु वि वि.सं श्री",
        "श्रीमती सं सुश्री स्व",
    ),
}

# Ends of compounds: "Hauptstr. 12".
NEVER_LAST_ENDINGS = ("str",)

# Abbreviations that end no sentence before a number: "p. 12" goes on, "no." may also be an answer.
BEFORE_A_NUMBER = _words(
    "abb abs anh anm app arr art bd bl cap ch chap col cols doc ed eq ex exp fasc fig figs fn fol h hft kap",
    "lib lin lit n nn no nos nr num n° nº núm p pag pagg par pl pos pp pt pág págs ref rn s sec sect sez ss",
    "st str séc t tab taf tav tel th tom u ver vers vol vols z ziff zl",
    "№ гл илл кв д п пп рис с см ст стр т табл тел ч",
    "ص ج م ط ع رقم",
    "पृ पृष्ठ सं क्र रु खं",
)

# English abbreviations that end no sentence before a small letter.
BEFORE_SMALL_LETTERS = _words("assn coeff conc dept dist fwd intl max min misc natl ref std temp tech univ wt yr yrs")

# Abbreviations that are words as well, and end a sentence where no number follows.
ALSO_WORDS = frozenset({"art", "cap", "no"})

# Units that end a sentence as often as not, behind a number.
MEASURES = _words("ab h hab hr hrs min sec sek std мин сек ч чел")

# Abbreviations of "and so on", which end a sentence as often as not.
MAY_BE_LAST = _words("etc usw usf u.s.w ecc т.д т.п др пр إلخ الخ आदि इत्यादि")

# Ends of names; they end a sentence where a stop word begins the next one.
ENDS_A_NAME = _words("bros cie co corp hnos inc jr ltd ltda s.a s.l s.p.a s.r.l sr")
