"""Pages with status 200 that say "not found", or that they are not shown in this country or at this age."""

from __future__ import annotations

from marchwarden.reading.access.page_features import Impression, is_titled, unquoted
from marchwarden.reading.access.vocabulary import any_of
from marchwarden.reading.text_lengths import latin_length

NOT_SHOWN_HERE = any_of(
    {
        "en": (
            r"(?:not|n't|un)[ -]?available (?:in|to|for) (?:(?:your|most|some) (?:\w+ )?"
            r"(?:country|countries|region|location|area)|(?:visitors|users|readers) (?:from|in))",
            r"access this website from a country belonging to",
            r"european visitors are important to us",
            r"^you must be (?:at least )?(?:18|21)(?: years(?: of age| old)?)?(?: or (?:over|older))? to"
            r" (?:enter|view|visit)(?: (?:this|the|our) (?:site|website|page))?\.?$",
            r"^are you (?:of legal drinking age|(?:over )?(?:18|21)(?: or (?:over|older))?)\?",
            r"(?:due to|because of) (?:rights|licensing)\b",
            r"can only be (?:viewed|read|seen) in (?:the|our) app\b",
        ),
        "de": (r"in (?:ihrem|deinem) land nicht verfügbar", r"^(?:sind sie|bist du) (?:über|mindestens) (?:16|18)\b"),
        "fr": (r"pas disponible dans votre (?:pays|région)", r"^avez-vous plus de 18 ans"),
        "es": (r"no (?:está )?disponible en (?:su|tu) (?:país|región)", r"^¿eres mayor de (?:18|edad)"),
        "it": (r"non (?:è )?disponibile nel (?:tuo|suo) paese",),
    }
)
_A_PAGE = r"(?:page|file|document|article|content|resource|item|url|address|link)"
_IS_GONE = (
    r"(?:was|is|has been|could|can(?:'t|not)?|does(?:n't)?|isn't|couldn't|no longer)"
    r"(?: not| no longer| be)*(?: (?:found|exists?|removed|deleted|moved|available|unavailable|located|gone))"
)
GONE_TITLES = any_of(
    {
        "en": (
            r"(?:error:? ?)?(?:404|410)(?: error)?(?:[ :.,-]+.*)?",
            rf"(?:sorry,? )?(?:the |this |that )?{_A_PAGE} (?:you .{{3,40}} )?"
            rf"(?:{_IS_GONE}|not found|unavailable|gone)",
            r"nothing (?:was )?found",
        ),
        "de": (r"seite nicht gefunden", r"fehler 404"),
        "fr": (r"page (?:introuvable|non trouvée)", r"erreur 404"),
        "es": (r"página no encontrada",),
        "it": (r"pagina non trovata",),
        "nl": (r"pagina niet gevonden",),
        "pt": (r"página não encontrada",),
        "pl": (r"nie znaleziono(?: strony)?", r"strona nie istnieje"),
    }
)
GONE_TITLES_PERHAPS = any_of({"en": (r"not found", r"oops.*")})
GONE_WORDS = any_of(
    {
        "en": (
            rf"\b{_A_PAGE}s?(?: that| which)? you(?:')?(?:re| are| were| have)? "
            rf"(?:look|request|try|search|want|ask|follow|enter|click)\w*(?: \w+){{0,4}},? {_IS_GONE}",
            r"(?:we|i) (?:couldn't|could not|can't|cannot|were unable to|are unable to) (?:find|locate)"
            rf" (?:the|that|this|your|a|what)(?: \w+)? ?(?:{_A_PAGE}|you)",
            rf"(?:this|the|that|requested) {_A_PAGE}(?: \S+)? {_IS_GONE}",
            r"there is (?:no such page|no page|nothing) (?:at|under|here)",
            r"nothing (?:was|could be) found",
        ),
        "de": (r"(?:angeforderte|gesuchte|aufgerufene) seite\b.{0,30}\b(?:nicht|existiert)",),
        "fr": (r"la page (?:que vous .{3,30} )?n'existe (?:pas|plus)",),
        "es": (r"la página (?:que .{3,20} )?no existe",),
        "it": (r"la pagina (?:che .{3,20} )?non (?:esiste|è stata trovata)",),
        "pt": (r"a página (?:que .{3,20} )?não (?:existe|foi encontrada)",),
        "pl": (r"strona,? (?:której .{3,20},? )?nie istnieje",),
    }
)

# Characters of a page that is nothing else; evals/reading/access measures their effect on labelled pages.
_MAX_CHARS = 1200
_MAX_RESTRICTED_CHARS = 600
# The same where the title or the text says so, but not both.
_MAX_CHARS_OF_ONE_SIGN = 300


def is_not_found(page: Impression) -> bool:
    if latin_length(page.main) >= _MAX_CHARS:
        return False
    titled, perhaps = is_titled(page, GONE_TITLES), is_titled(page, GONE_TITLES_PERHAPS)
    said = GONE_WORDS.search(unquoted(page.main[:600] or page.shown[:1500])) is not None
    if (titled or perhaps) and said:
        return True
    return (titled or said) and latin_length(page.main) < _MAX_CHARS_OF_ONE_SIGN


def is_restricted(page: Impression) -> bool:
    return latin_length(page.shown) < _MAX_RESTRICTED_CHARS and page.calls_for(NOT_SHOWN_HERE)
