"""A paragraph in each of two dozen languages, and the encodings that its language was written in before UTF-8."""

from __future__ import annotations

PARAGRAPHS: dict[str, tuple[str, tuple[str, ...]]] = {
    "en": (
        "The old orchard behind the mill was planted in 1887, and a third of its trees still bear fruit. Every autumn "
        "the neighbours meet to press cider; “nobody goes home dry”, as the miller’s daughter puts it. Last year they "
        "filled 640 bottles – at £3 each, the whole harvest was gone by Christmas.",
        ("cp1252",),
    ),
    "de": (
        "Der alte Obstgarten hinter der Mühle wurde 1887 angelegt, und noch heute trägt ein Drittel der Bäume Früchte. "
        "Jeden Herbst treffen sich die Nachbarn zum Mosten, und niemand geht durstig nach Hause, wie die Tochter des "
        "Müllers erzählt. Voriges Jahr füllten sie 640 Flaschen; bis Weihnachten war alles verkauft, größtenteils im Dorf.",
        ("cp1252", "iso8859-1", "iso8859-15", "mac-roman", "cp850"),
    ),
    "fr": (
        "Le vieux verger derrière le moulin a été planté en 1887, et un tiers des arbres porte encore des fruits. Chaque "
        "automne, les voisins se réunissent pour presser le cidre et personne ne rentre chez soi assoiffé, raconte la "
        "fille du meunier. L’année dernière, ils ont rempli 640 bouteilles ; à Noël, tout était déjà vendu.",
        ("cp1252", "mac-roman"),
    ),
    "es": (
        "El viejo huerto detrás del molino se plantó en 1887, y un tercio de los árboles todavía da fruta. Cada otoño los "
        "vecinos se reúnen para prensar la sidra y nadie vuelve a casa con sed, según cuenta la hija del molinero. El año "
        "pasado llenaron 640 botellas; ¿y cuántas quedaban en Navidad? ¡Ninguna! La cosecha pequeña también se vendió.",
        ("cp1252", "iso8859-1", "iso8859-15"),
    ),
    "pt": (
        "O velho pomar atrás do moinho foi plantado em 1887, e um terço das árvores ainda dá frutos. Todos os outonos os "
        "vizinhos reúnem-se para fazer sidra, e ninguém vai para casa com sede, conta a filha do moleiro. No ano passado "
        "encheram 640 garrafas; até ao Natal não sobrou nenhuma, e já há encomendas para a próxima estação.",
        ("cp1252", "iso8859-1"),
    ),
    "sv": (
        "Den gamla fruktträdgården bakom kvarnen anlades 1887, och en tredjedel av träden bär fortfarande frukt. Varje höst "
        "träffas grannarna för att pressa must, och ingen går törstig hem, berättar mjölnarens dotter. I fjol fyllde de 640 "
        "flaskor; före jul var allting sålt, och nu står många på kö inför nästa år.",
        ("cp1252", "iso8859-1"),
    ),
    "pl": (
        "Stary sad za młynem założono w 1887 roku, a jedna trzecia drzew wciąż rodzi owoce. Każdej jesieni sąsiedzi "
        "spotykają się, żeby tłoczyć sok, i nikt nie wraca do domu spragniony, jak opowiada córka młynarza. W zeszłym roku "
        "napełnili 640 butelek; przed świętami wszystko było już sprzedane, głównie mieszkańcom wsi.",
        ("cp1250", "iso8859-2"),
    ),
    "cs": (
        "Starý sad za mlýnem byl vysazen v roce 1887 a třetina stromů dodnes plodí. Každý podzim se sousedé scházejí, aby "
        "lisovali mošt, a nikdo neodchází domů žíznivý, jak říká mlynářova dcera. Loni naplnili 640 lahví; do Vánoc bylo "
        "všechno prodáno a zájemci už se ptají, kolik jich bude příště.",
        ("cp1250", "iso8859-2"),
    ),
    "hu": (
        "A malom mögötti öreg gyümölcsöst 1887-ben telepítették, és a fák harmada még ma is terem. A szomszédok minden "
        "ősszel összegyűlnek, hogy almalevet préseljenek, és senki sem megy haza szomjasan, meséli a molnár lánya. Tavaly "
        "640 üveget töltöttek meg; karácsonyra mind elfogyott, főleg a faluban.",
        ("cp1250", "iso8859-2"),
    ),
    "ru": (
        "Старый сад за мельницей посадили в 1887 году, и треть деревьев до сих пор плодоносит. Каждую осень соседи "
        "собираются, чтобы давить сок, и никто не уходит домой без угощения, рассказывает дочь мельника. В прошлом году "
        "наполнили 640 бутылок; к Рождеству всё было продано, в основном жителям деревни.",
        ("cp1251", "koi8-r", "iso8859-5", "cp866", "mac-cyrillic"),
    ),
    "uk": (
        "Старий сад за млином посадили 1887 року, і третина дерев досі родить. Щоосені сусіди сходяться, щоб чавити сік, "
        "і ніхто не йде додому спраглим, розповідає донька мельника. Торік вони наповнили 640 пляшок; до Різдва все було "
        "продано, а їхні замовлення на наступний рік уже є.",
        ("cp1251", "koi8-u"),
    ),
    "bg": (
        "Старата овощна градина зад мелницата е засадена през 1887 година и една трета от дърветата още раждат. Всяка есен "
        "съседите се събират да правят сок и никой не си тръгва жаден, разказва дъщерята на мелничаря. Миналата година "
        "напълниха 640 бутилки; до Коледа всичко беше продадено, най-вече на хората от селото.",
        ("cp1251", "iso8859-5"),
    ),
    "el": (
        "Ο παλιός οπωρώνας πίσω από τον μύλο φυτεύτηκε το 1887 και το ένα τρίτο των δέντρων δίνει ακόμη καρπούς. Κάθε "
        "φθινόπωρο οι γείτονες μαζεύονται για να φτιάξουν χυμό και κανείς δεν γυρίζει στο σπίτι διψασμένος, όπως λέει η "
        "κόρη του μυλωνά. Πέρυσι γέμισαν 640 μπουκάλια· ως τα Χριστούγεννα είχαν πουληθεί όλα.",
        ("cp1253", "iso8859-7"),
    ),
    "tr": (
        "Değirmenin arkasındaki eski meyve bahçesi 1887 yılında kuruldu ve ağaçların üçte biri hâlâ meyve veriyor. Her "
        "sonbaharda komşular elma suyu sıkmak için bir araya gelir; değirmencinin kızının anlattığına göre kimse evine "
        "susuz dönmez. Geçen yıl 640 şişe doldurdular, yılbaşına kadar hepsi satıldı.",
        ("cp1254", "iso8859-9"),
    ),
    "he": (
        "הבוסתן הישן שמאחורי הטחנה ניטע בשנת 1887, ושליש מן העצים עדיין נושאים פרי. בכל סתיו נפגשים השכנים כדי לסחוט מיץ, "
        "ואיש אינו חוזר לביתו צמא, מספרת בתו של הטוחן. בשנה שעברה הם מילאו 640 בקבוקים; עד סוף דצמבר נמכר הכול, רובו "
        "לתושבי הכפר.",
        ("cp1255", "iso8859-8"),
    ),
    "ar": (
        "زُرع البستان القديم خلف الطاحونة سنة 1887، ولا يزال ثلث أشجاره يحمل الثمار. في كل خريف يجتمع الجيران لعصر التفاح، "
        "ولا يعود أحد إلى بيته عطشان، كما تقول ابنة الطحان. في العام الماضي ملأوا 640 زجاجة؛ وقبل نهاية السنة بيع كل شيء، "
        "ومعظمه لأهل القرية.",
        ("cp1256", "iso8859-6"),
    ),
    "th": (
        "สวนผลไม้เก่าหลังโรงสีปลูกไว้ตั้งแต่ปี 1887 และต้นไม้หนึ่งในสามยังคงออกผลอยู่ ทุกฤดูใบไม้ร่วงเพื่อนบ้านจะมาพบกันเพื่อคั้นน้ำแอปเปิล "
        "และไม่มีใครกลับบ้านด้วยความกระหาย ลูกสาวของคนโม่แป้งเล่าให้ฟัง ปีที่แล้วพวกเขาบรรจุได้ 640 ขวด และขายหมดก่อนสิ้นปี",
        ("cp874", "tis-620"),
    ),
    "lt": (
        "Senas sodas už malūno pasodintas 1887 metais, ir trečdalis medžių vis dar veda vaisius. Kiekvieną rudenį kaimynai "
        "susirenka spausti sulčių, ir niekas negrįžta namo ištroškęs, pasakoja malūnininko duktė. Pernai jie pripildė 640 "
        "butelių; iki Kalėdų viskas buvo parduota, daugiausia kaimo žmonėms.",
        ("cp1257", "iso8859-13"),
    ),
    "zh-hans": (
        "磨坊后面的老果园建于1887年，三分之一的树至今仍在结果。每年秋天，邻居们都会聚在一起榨苹果汁，磨坊主的女儿说，没有人会口渴着回家。"
        "去年他们装满了640瓶，到年底就全部卖完了，大部分卖给了村里的人。",
        ("gb2312", "gbk", "gb18030", "hz"),
    ),
    "zh-hant": (
        "磨坊後面的老果園建於1887年，三分之一的樹至今仍在結果。每年秋天，鄰居們都會聚在一起榨蘋果汁，磨坊主人的女兒說，沒有人會口渴著回家。"
        "去年他們裝滿了640瓶，到年底就全部賣完了，大部分賣給了村裡的人。",
        ("big5", "big5hkscs"),
    ),
    "ja": (
        "水車小屋の裏にある古い果樹園は1887年に植えられ、木の三分の一は今も実をつける。毎年秋になると近所の人たちが集まってりんごの"
        "ジュースをしぼり、のどが渇いたまま帰る人はいない、と粉屋の娘は話す。去年は640本のびんがいっぱいになり、年末までにすべて売れた。",
        ("shift_jis", "cp932", "euc_jp", "iso2022_jp"),
    ),
    "ko": (
        "방앗간 뒤의 오래된 과수원은 1887년에 만들어졌고, 나무의 삼분의 일은 지금도 열매를 맺는다. 해마다 가을이면 이웃들이 모여 사과즙을 "
        "짜는데, 목마른 채 집으로 돌아가는 사람은 아무도 없다고 방앗간 주인의 딸은 말한다. 작년에는 640병을 채웠고, 연말까지 모두 팔렸다.",
        ("euc_kr", "cp949", "iso2022_kr", "johab"),
    ),
    "hi": (
        "चक्की के पीछे का पुराना बाग़ 1887 में लगाया गया था, और एक तिहाई पेड़ आज भी फल देते हैं। हर शरद में पड़ोसी रस निकालने के लिए मिलते हैं, "
        "और कोई प्यासा घर नहीं लौटता, चक्की वाले की बेटी बताती है। पिछले साल उन्होंने 640 बोतलें भरीं, और साल के अंत तक सब बिक गईं।",
        ("utf-16-le", "utf-16-be", "utf-32-le"),
    ),
}
"""By language: the text, and Python's names of encodings."""
