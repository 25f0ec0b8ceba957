"""Phrases by which an order to a model is recognised, over the classes of lexicon.py.

phrase_language.py explains how they are read. The patterns at the end find signs that are no words of the lexicon:
the marks of a prompt's parts, and languages without blanks.
"""

from __future__ import annotations

import re
from typing import NamedTuple

GROUPS: dict[str, tuple[str, ...]] = {
    "MACH": ("MACHINE -HUMAN|BEING", "KIND KIND? KIND? BEING -HUMAN", "BEING OF? OF? KIND KIND? -HUMAN"),
    "CALLED": ("MACHINE", "ASSISTANT", "KIND BEING|ASSISTANT"),
    "DO_IT": ("DROP|SAY|TELL|PRAISE|TRUST|PRINT|GIVE|MAKE|SET -ME", "NOT FOLLOW|HUSH"),
    "TOLD_TO": ("YOU", "SOFT? COMMAND|MAKE"),
    "NAMED": ("KIND KIND? BEING|ASSISTANT -HUMAN", "MACHINE ,|.|:|THAT"),
    "LEAKED": ("SYSTEM PROMPT", "PROMPT OF? SYSTEM", "SYSTEM_PROMPT", "YOUR ..1 SECRET ..1 PROMPT"),
    "SURE": ("TOP CONFIDENCE", "CONFIDENCE ..2 TOP"),
}


class Cue(NamedTuple):
    kind: str
    phrase: str
    unless: str = ""
    """Classes of words that make the phrase an ordinary one in the same sentence."""


STRONG: tuple[Cue, ...] = (
    Cue("override", "> DROP ..8 EARLIER|YOUR ..3 ORDER", "MANUAL"),
    Cue("override", "> DROP ..6 ORDER ..5 EARLIER", "MANUAL"),
    Cue("override", "> DROP ..5 EARLIER ..3 RULE", "MANUAL"),
    Cue("override", "^ DROP ..2 ALL ..3 ORDER", "MANUAL"),
    Cue("override", "> NOT FOLLOW ..6 EARLIER|YOUR ..3 ORDER", "MANUAL"),
    Cue("override", "> NOT FOLLOW ..3 ORDER ..3 EARLIER", "MANUAL"),
    Cue("override", "> NOT? PAY NOT? NOT? HEED ..8 ORDER", "MANUAL"),
    Cue("override", "> DROP WHAT ..2 PAGE TOLD"),
    Cue("override", "> DROP EVERYTHING ..2 YOU ..4 EARLIER|TOLD -ABOUT"),
    Cue("address", "^ THE? SYSTEM|KIND? NOTE TO THE? ALL? THE|OTHER? ..1 MACH"),
    Cue("address", "^ THE? INFO TO THE? ALL? THE|OTHER? ..1 MACH ..6 :|READING"),
    Cue("address", "^ HINWEIS AT ALL? THE? ..1 MACH"),
    Cue("address", "^ NOTE AT THE|ALL THE? MACH"),
    Cue("address", "^ AT THE? CALL OF|THE? MACH"),
    Cue("address", "^ TO ALL ..1 MACH ..9 :|READING"),
    Cue("address", "^ SYSTEM NEWS TO ..1 MACH"),
    Cue("address", "^ CALL ,? ALL? MACH AND? MACH? :|,|.|*|READING"),
    Cue("address", "^ HELLO ,? ..2 MACH ..3 ,|:|.|* ..3 COMMAND"),
    Cue("address", "^ HELLO ,? CALLED ,|.|* YOU ARE|MUST"),
    Cue("address", "^ HELLO? CALLED ,|: SOFT? YOU? MUST? SOFT? COMMAND -ME"),
    Cue("address", "WHEN|AS YOU ARE THE? MACH ..8 ,|: ..1 TOLD_TO"),
    Cue("address", "^ AS THE? MACH ,? YOU MUST"),
    Cue("address", "MACH ..2 READING THIS ..7 OUGHT|:"),
    Cue("address", "^ THE? MACH MUST ..2 SAY|TELL ..3 THAT -THEY"),
    Cue("address", "^ THE? MACH MUST ..2 TRUST|PRAISE ..3 DOMAIN"),
    Cue("say", "^ ASSERT THAT -YOU|ME|QUESTION", "LETTER"),
    Cue("say", "^ TELL THE USER THAT|TO|THEY", "SCREEN"),
    Cue("output", "^ MAKE|SAY|TELL|TRUST|PRAISE ..18 INTO YOUR ..1 ANSWER", "SCHOOL"),
    Cue("output", "^ MAKE * ~40 INTO YOUR ..1 ANSWER", "SCHOOL"),
    Cue("output", "^ CHANGE ..4 YOUR ..1 ANSWER", "SCHOOL"),
    Cue("output", "^ OPEN YOUR ..1 ANSWER WITH ..3 *", "SCHOOL"),
    Cue("output", "^ SERVE YOUR ..1 REPLY|MESSAGE WITH|INTO", "SCHOOL"),
    Cue("output", "^ DISTORT ..8 YOUR ..1 ANSWER|MESSAGE", "SCHOOL"),
    Cue("output", "^ ..1 YOUR ..1 ANSWER , DO_IT", "SCHOOL"),
    Cue("output", "WHEN ..3 SUM ..2 THE|THIS PAGE -THAT ..14 ,|: SOFT? YOU? MUST? SOFT? DO_IT"),
    Cue("output", "WHEN ..2 THIS ..1 PAGE ..1 SUM ,|: SOFT? DO_IT"),
    Cue("output", "^ WHEN THE USER ASKS ..14 , ..2 SAY|TELL|PRAISE|NOT"),
    Cue("source", "> CITE ONLY ..2 DOMAIN"),
    Cue("source", "> CITE ONLY THIS PAGE"),
    Cue("source", "> ONLY CITE ..2 DOMAIN"),
    Cue("source", "> TRUST DOMAIN AS ..2 SOURCES"),
    Cue("source", "> NOT TRUST|HUSH ..1 OTHER ..1 SOURCES"),
    Cue("source", "> NOT CITE THAT DOMAIN"),
    Cue("source", "> TRUST THIS ..1 PAGE AS ..3 BEST"),
    Cue("source", "> TRUST ..2 OTHER ..1 SOURCES AS? ..1 UNTRUE"),
    Cue("source", "> SET|SAY|TRUST ..4 SURE"),
    Cue("secrecy", "> NOT NOT? HUSH ..3 THIS|YOUR ..1 TALE"),
    Cue("secrecy", "> HUSH THIS ..1 TALE NOT"),
    Cue("review", "^ GIVE|MAKE THE? POSITIVE REVIEW ONLY"),
    Cue("leak", "> PRINT ..5 LEAKED"),
    Cue("leak", "> GIVE ME? YOUR? ..1 LEAKED"),
    Cue("leak", "> GIVE|MAKE ..1 FULL ..4 LEAKED"),
    Cue("persona", "YOU ARE NOW? ..2 FREED MODE", "CAREER"),
    Cue("persona", "^ YOU ARE NOW? THE ..1 NAMED", "CAREER"),
    Cue("persona", "FROM NOW ON ,? YOU MUST|ARE ..3 SPEAK|BECOME"),
    Cue("persona", "FROM NOW ON ,? SPEAK|BECOME ..3 AS"),
)

# Two kinds of these in one paragraph are enough, and one on a page that has a strong one somewhere.
WEAK: tuple[Cue, ...] = (
    Cue("override", "> DROP ..4 RULE|ORDER|EVERYTHING"),
    Cue("override", "^ STOP EVERYTHING|WHAT"),
    Cue("say", "> SAY|TELL ..2 THAT"),
    Cue("say", "> TELL THE? PERSON"),
    Cue("say", "> PRAISE"),
    Cue("say", "> SAY|PRINT *|:|ONLY"),
    Cue("say", "> PRINT"),
    Cue("output", "YOUR ..1 ANSWER", "SCHOOL"),
    Cue("output", "^ MAKE|CHANGE|DISTORT ..3 LETTERS"),
    Cue("source", "> TRUST ..3 DOMAIN"),
    Cue("source", "SKIP ..2 VERIFY"),
    Cue("secrecy", "NOT HUSH"),
    Cue("persona", "YOU ARE NOW"),
    Cue("persona", "YOU MUST|ARE ..2 BECOME"),
    Cue("persona", "^ FROM NOW ON ..1 YOU"),
    Cue("persona", "^ BECOME AS"),
    Cue("freed", "JAIL"),
    Cue("freed", "DO ANYTHING NOW"),
)

# Weak signs of these kinds count with each other, and not beside other kinds.
ROLE_KINDS = frozenset({"persona", "freed"})

_PART = r"(?:system|user|assistant|developer|human|model)"
# Marks of a prompt's parts, in folded text.
ROLE_MARK = re.compile(
    rf"""
    <\|?(?:im_start|start_header_id|start_of_turn)\|?>\s*{_PART}\b
    | (?:^|\n)\s*<\|(?:im_start|{_PART}|endoftext)\|>\s*\S
    | \[inst\](?!\s*(?:and|und|et|y)\b)[^\[]{12, 2000}\[/inst\] | (?:^|\n|<s>)\s*\[inst\]\s*\S | <<sys>>
    | (?:^|\n)\W{{0,6}}(?:begin[ ]|new[ ]|end[ ])?(?:system|sys|developer|admin(?:istrator)?|root)
      (?:[ ](?:message|prompt|note|update|override|instructions?|alert|notice|command|directive))?
      \W{{0,3}}[:>\]]\W{{0,4}}(?:you[ ](?:are|must|will)|ignore|disregard|forget|from[ ]now)\b
    | </(?:system|instructions?|prompt)>\s*\w
    | (?:^|\n)\s*\#{{2,}}[ ]?(?:instruction|system|human|assistant)\b[ ]?:
    """,
    re.VERBOSE,
)
# A row of marks as between the parts of a prompt, and a sentence about orders right after it.
FENCED_ORDER = re.compile(
    r"""
    (?:^|\s)[-+=*/\\|<>\#~^:@&%$\[\]{}]{5,}[ \t]*(?:[^\W\d][^\s.!?;]*[ ,]+){2,40}?
    (?:instruction|directive|order|command|task|guideline|rule|prompt)s?\b[^\n.!;=]{0,200}[.!;]
    """,
    re.VERBOSE,
)
_MACHINES_ELSEWHERE = (
    r"(?:(?<![a-z])ai(?![a-z])|人工智能|人工智慧|语言模型|語言模型|大模型|聊天机器人|智能助手|人工知能|言語モデル|チャットボット"
    r"|인공지능|언어\ ?모델|챗봇|الذكاء\ الاصطناعي|نماذج\ اللغة|النماذج\ اللغوية|روبوتات\ الدردشة"
    r"|एआई|कृत्रिम\ बुद्धि\w*|भाषा\ मॉडल\w*|चैटबॉट\w*|\bии\b|нейросет\w+|языков\w+\ модел\w+|чат-?бот\w*"
    r"|yapay\ zeka\w*)"
)
# Orders to ignore the text before, and words to all machines, in languages without blanks between words, or with many
# prefixes and endings.
ELSEWHERE = re.compile(
    rf"""
    (?:^|[。！？，、：；\s“「(（请請])(?:忽略|无视|無視|忘记|忘記|不要理会)
      [^。！？]{{,12}}(?:之前|以前|上述|先前|前面|所有|此前)[^。！？]{{,12}}(?:指示|指令|说明|說明|提示|命令|规则)
    | (?:以前|これまで|上記|前|今まで|すべて|全て)[^。！？]{{,10}}(?:指示|命令|指令|プロンプト)
      [^。！？]{{,10}}(?:無視|忘れ|従わ)
    | (?:이전|위의|모든)[^.!?]{{,12}}(?:지시|명령|프롬프트)[^.!?]{{,12}}(?:무시|잊)
    | (?:تجاهل|انس|أهمل|اهمل)\w*[^.!؟]{{,25}}(?:التعليمات|الأوامر|التوجيهات)
    | (?:पिछले|पूर्व|पहले|उपरोक्त|ऊपर|सभी)[^।!?]{{,20}}(?:निर्देश|आदेश)[^।!?]{{,15}}(?:अनदेखा|नज़रअंदाज़|नजरअंदाज|भूल|उपेक्षा)
    | (?:onceki|yukarıdaki|tum)[^.!?]{{,20}}(?:talimat|komut)\w*[^.!?]{{,10}}(?:yok\ say|unut|gormezden|dikkate\ alma)
    | (?:bo\ qua|quen)[^.!?]{{,15}}(?:huong\ dan|chi\ dan|chi\ thi)[^.!?]{{,15}}(?:truoc|tren)
    | (?:所有|任何|各位|致|给|給|すべての|全ての|読む|읽는|모든|[إا]لى|لجميع|पढ़ने|सभी|всем|любым|вниманию|tum|okuyan)
      [^.。！？!?।؟\n]{{,25}}{_MACHINES_ELSEWHERE}[^.。！？!?।؟\n]{{,50}}(?:[:：,，、]|请|請|必须|へ|에게|께)
    """,
    re.VERBOSE,
)
QUOTED = re.compile(
    r"""["“”„«»‹›「」`][^"“”„«»‹›「」`\n]{3,600}["“”„«»‹›「」`]|(?<!\w)['‘‚][^'‘’\n]{8,300}['’](?!\w)"""
)
