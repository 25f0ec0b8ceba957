"""Words of paywalls and registration walls, by language: who may read, the thing that is read, and the means.

Each site words its paywall differently, but with few words: one sentence names paying, or signing in, and reading on.
Words stand between commas; `*` is any ending. All other signs are those of regular expressions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property

# Any of the phrases of a table. Each is looked for in every page, whatever its language: few pages declare theirs,
# and a paywall is often in another language than its page.
Phrases = re.Pattern[str]


def any_of(phrases: Mapping[str, tuple[str, ...]]) -> Phrases:
    """Return a pattern for all phrases (regular expressions), whatever their case and kind of apostrophe."""
    written = (phrase.replace("'", "['’]") for table in phrases.values() for phrase in table)
    return re.compile("|".join(written), re.IGNORECASE)


# What a subscription costs, for how long, and what pages say that ask for consent.
PERIOD = re.compile(
    r"\b(?:days?|weeks?|months?|years?|tage?|wochen?|\w*monate?s?|monatlich|jours?|semaines?|mois|días?|semanas?|mes(?:es)?"
    r"|giorn[oi]|settiman[ae]|mes[ei]|dagen|weken|maand(?:en)?|dias|mês|tydzień|miesiąc\w*|vecka|månad\w*|måned\w*)\b"
    r"|[日週月年]|개월|месяц",
    re.IGNORECASE,
)
PRICE = re.compile(r"[€$£]\s?\d|\d\s?(?:€|euros?|zł|kr)\b|\d\s?€", re.IGNORECASE)
# Words that are in any sentence about consent.
CONSENT_TALK = any_of(
    {
        "en": (
            r"cookie",
            r"consent",
            r"tracking",
            r"privacy",
            r"\bour (?:\d+ )?partners",
            r"personali[sz]e",
            r"accept all",
        ),
        "de": (
            r"werb(?:ung|e)",
            r"tracking",
            r"privacy",
            r"zustimm",
            r"akzeptieren",
            r"datenschutz",
            r"\bpur-",
            r"fortfahren",
        ),
        "fr": (r"accept", r"refus", r"accord\b", r"publicité", r"vie privée", r"consent", r"vous avez le choix"),
        "es": (r"acept", r"publicidad", r"rechazar", r"privacidad"),
        "it": (r"accett", r"profilazione", r"pubblicità"),
        "nl": (r"toestemming", r"akkoord", r"advertenties"),
        "pt": (r"aceit", r"publicidade", r"privacidade"),
        "pl": (r"zgod", r"akceptuj", r"prywatnoś"),
    }
)


@dataclass(frozen=True)
class Vocabulary:
    paying: str
    """Words for paying, and for those who pay."""
    account: str
    """Words for signing in or up."""
    to_read: str
    """Words for reading on."""
    pieces: str
    """Words for an article or its parts."""
    only: str
    """Words that exclude all others."""
    spaced: bool = True
    """False for languages without spaces between words."""

    @cached_property
    def patterns(self) -> dict[str, re.Pattern[str]]:
        """Pattern of each role's words, by the role's name."""
        edge = r"\b" if self.spaced else ""
        patterns: dict[str, re.Pattern[str]] = {}
        for role in (field.name for field in fields(self) if field.name != "spaced"):
            words: str = getattr(self, role)
            each = (" ".join(word.split()).replace("'", "['’]") for word in words.split(","))
            written = (
                f"(?:{word[:-1]})" if word.endswith("*") else f"(?:{word})(?!\\w)" if edge else word for word in each
            )
            patterns[role] = re.compile(f"{edge}(?:{'|'.join(written)})", re.IGNORECASE)
        return patterns

    @cached_property
    def _is_latin(self) -> bool:
        return re.search("[a-z]", self.paying) is not None

    def says(self, sentence: str, *roles: str) -> bool:
        if not self._is_latin and sentence.isascii():
            return False
        # A generator takes as long as the search that it runs: each sentence of a page is asked in ten languages.
        for role in roles:  # noqa: SIM110
            if not self.patterns[role].search(sentence):
                return False
        return True


def says(sentence: str, *roles: str) -> bool:
    """Return whether the sentence has a word of each role, all in one language."""
    return any(words.says(sentence, *roles) for words in VOCABULARIES.values())


_NOT_OURS = r"(?! (?:your|our|my|prices?|images?|links?|files?|drawings?)\b)"

VOCABULARIES = {
    "en": Vocabulary(
        paying="""subscrib*, subscription*, premium, paid, pay, paying, support, patrons?, purchase, buy, credits?,
            (?<!approved )(?<!registered )members?, membership*, (unlimited|full|all|digital)[ -](digital )?access,
            free trial""",
        account="""log(ged)?[ -]?in, sign(ed)?[ -]?(in|up), register, registered, (an|a|your)( free)? account,
            enter your e-?mail, approved members""",
        to_read=f"""(to|and|can) (\\w+ or )?(open this|continue|read|view|unlock|access|watch|finish){_NOT_OURS},
            to (see|view) (this|the|its?|full){_NOT_OURS}, (continue|keep) reading,
            read (on|the full|the rest|the whole), continue with""",
        pieces="""articles?, story, stories, pieces?, content, posts?, reports?, essays?, issues?, journalism,
            full[- ]text""",
        only="only, exclusive*, reserved, restricted, available to",
    ),
    "de": Vocabulary(
        paying="""\\w*abonn(ent|ement|ier)*, \\w*-?abos?, premium*, kostenpflichtig*, \\w+\\+,
            plus-?(mitglied|leser|nutzer)*, zahlende*""",
        account="registrier*, anmeld*, einlog*, melden sie sich, loggen, login, konto, angemeldet",
        to_read="""weiter(zu)?lesen, zu (lesen|sehen), um .* (lesen|sehen), lesen sie, sichtbar, freischalten""",
        pieces="artikel*, beitr(ag|äg)*, inhalt*, text*, angebot*",
        only="nur, exklusiv*, ausschließlich, vorbehalten",
    ),
    "fr": Vocabulary(
        paying="abonn*, premium, payant*, achet*, formules?",
        account="connect(ez|é|er)*, inscri*, compte, identifi*",
        to_read="""lire la suite, lisez,
            (pour|de) (lire|découvrir|débloquer|continuer|poursuivre|accéder|voir|consulter)(?! vo(?:s|tre)\\b)""",
        pieces="articles?, contenus?, suite",
        only="réserv*, seul*, exclusi*",
    ),
    "es": Vocabulary(
        paying="suscri(b|pt)*, suscríb*, premium, soci[oa]s, de pago",
        account="reg[ií]str*, inici(a|ar) sesión, identif[ií]cate, cuenta",
        to_read="""(seguir|continuar|sigue) leyendo, (para|puede|pueden) (leer|ver|acceder)(?! (?:tus?|sus?)\\b),
            lee (el|la|sin|todo)""",
        pieces="art[ií]culos?, contenidos?, noticias?",
        only="s[oó]lo, exclusiv*, únicamente",
    ),
    "it": Vocabulary(
        paying="abbona*, premium, a pagamento",
        account="registra(ti|rsi|to), accedi, l'accesso, account",
        to_read="""per (leggere|continuare|proseguire|vedere), continua(re)? a leggere,
            leggi (l'articolo|il|tutto)""",
        pieces="articol[oi], l'articolo, contenut[oi]",
        only="solo, riservat*, esclusiv*",
    ),
    "nl": Vocabulary(
        paying="\\w*abonne*, premium, betalende",
        account="(log|meld) .*(in|aan), (in|aan)ge(logd|meld), account, registreer",
        to_read="(verder|door)( te)? ?lezen, te (lezen|bekijken), artikel lezen, lees (verder|dit|het)",
        pieces="artikel(en)?, verhaal, inhoud",
        only="alleen, exclusief, enkel",
    ),
    "pt": Vocabulary(
        paying="assine, assinar, assinantes?, assinatura, premium, acesso ilimitado",
        account="fa(ça|zer) login, cadastr*, regist(e|re|o), entrar, conta",
        to_read="(continu(e|ar)|seguir) (lendo|a ler), para (ler|continuar|acessar|aceder|ver), leia",
        pieces="artigos?, conteúdos?, matérias?, reportagem",
        only="só, somente, apenas, exclusiv*",
    ),
    "pl": Vocabulary(
        paying="prenumer*, subskry*, wykup*, premium, płatn*",
        account="zalog*, zarejestr*, konto",
        to_read="(aby|żeby|by) (czytać|przeczytać|zobaczyć|kontynuować), czyta[jć] dalej",
        pieces="artykuł*, treś*, tekst*, dostęp*",
        only="tylko, wyłącznie",
    ),
    "sv": Vocabulary(
        paying="prenumer*, premium, plus-?abonn*",
        account="logga in, inloggad, konto, registrera",
        to_read="(för att|vill du) (fortsätta )?(läsa|se), läs (vidare|hela)",
        pieces="artikel*, artiklar, innehåll*",
        only="bara, endast, enbart, låst, för dig som",
    ),
    "no": Vocabulary(
        paying="abonn*, kjøp, køb, pluss?-?(abonn|kund)*",
        account="logg? inn?d?, innlogget, konto, registrer",
        to_read="for (å|at) (fortsette|fortsætte|lese|læse|se), l[eæ]s (videre|hele)",
        pieces="saken?, artikkel, artikler, artiklen, innhold, indhold",
        only="kun, bare, for abonn*",
    ),
    "ru": Vocabulary(
        paying="подпис(чик|к|аться)*, платн*",
        account="войти, войдите, авториз*, зарегистрир*",
        to_read="""(чтобы|для) (читать|чтения|просмотра|прочитать|увидеть|продолж)*, читать (дальше|далее)""",
        pieces="стать*, текст*, материал*",
        only="только, исключительно",
    ),
    "ja": Vocabulary(
        paying="有料, 購読, 購入, 会員",
        account="ログイン, 会員登録, 無料登録",
        to_read="続き, お読み, 全文, 閲覧, 表示, ご覧",
        pieces="記事",
        only="限定, のみ",
        spaced=False,
    ),
    "zh": Vocabulary(
        paying="付费, 订阅, 购买, 付費, 訂閱, 購買",
        account="登录, 登入, 注册, 註冊",
        to_read="阅读, 查看, 浏览, 閱讀",
        pieces="文章, 本文, 全文, 内容, 內容",
        only="仅限, 仅供, 僅限, 僅供, 只有",
        spaced=False,
    ),
    "ko": Vocabulary(
        paying="유료, 구독",
        account="로그인, 회원 ?가입",
        to_read="계속 읽, 읽으려면, 전문 보기, 보려면",
        pieces="기사, 콘텐츠, 글",
        only="전용, 한정, 에게만",
        spaced=False,
    ),
    "hi": Vocabulary(
        paying="सब्सक्राइब, सब्सक्रिप्शन, सदस्यता, सदस्यों, प्रीमियम, भुगतान",
        account="लॉग ?इन, साइन ?इन, रजिस्टर, खाता",
        to_read="पढ़ना जारी, आगे पढ़, पूरा पढ़, पूरी पढ़, पढ़ने के लिए",
        pieces="लेख, आर्टिकल, ख़?बर, स्टोरी, रिपोर्ट",
        only="केवल, सिर्फ़?, विशेष",
        spaced=False,
    ),
    "ar": Vocabulary(
        paying="اشتر[اك], مشترك, مدفوع",
        account="تسجيل الدخول, حساب",
        to_read="(ل|لمواصلة |لمتابعة |لإكمال )(ال)?قراءة, للاطلاع",
        pieces="مقال, محتوى, تقرير",
        only="فقط, حصري, خاص",
        spaced=False,
    ),
}
