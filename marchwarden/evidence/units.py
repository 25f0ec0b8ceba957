"""Units of measure as pages write them in ten languages, and their values.

Own code: libraries of units such as pint know English names and symbols only.
"""

import re
from functools import lru_cache

# Dimension, value of one unit in it, and spellings: `_` is a blank or a hyphen, `#` any ending. Values are exact, or
# right to five digits.
UNITS: tuple[tuple[str, float, str], ...] = (
    ("share", 1, "% percent per_cent pct prozent pour_cent por_ciento per_cento"),
    ("length", 0.001, "mm millimet# millimèt# milímetr#"),
    ("length", 0.01, "cm centimet# zentimeter# centimèt# centímetr#"),
    ("length", 0.0254, "inch# zoll"),
    ("length", 0.3048, "ft foot feet fuß"),
    ("length", 0.9144, "yard yards"),
    ("length", 1, "m metre metres meter meters metern mètre# metro metros metri"),
    ("length", 1000, "km kilomet# kilomèt# kilómetr# chilometr#"),
    ("length", 1609.344, "mile miles meile# milla# miglia"),
    ("area", 1, "m² m2 square_met# quadratmeter# mètre#_carré# metro#_cuadrado# metri_quadrati"),
    ("area", 4046.86, "acre#"),
    ("area", 1e4, "ha hectare# hektar# hectárea# ettari"),
    ("area", 1e6, "km² km2 square_kilomet# quadratkilometer# kilomèt#_carré# kilómetr#_cuadrado#"),
    ("area", 1e6, "chilometr#_quadrati"),
    ("area", 2.59e6, "square_mile# quadratmeile#"),
    ("weight", 1e-9, "µg μg mcg microgram#"),
    ("weight", 1e-6, "mg milligram# miligramo# milligrammi"),
    ("weight", 0.001, "g gram grams gramm gramme# gramo# grammi"),
    ("weight", 1, "kg kilo kilos kilogram# kilogramm# chilogrammi"),
    ("weight", 0.45359, "lb lbs pound pounds"),
    ("weight", 0.02835, "oz ounce ounces"),
    ("weight", 1000, "ton tons tonne# tonnen tonelada# tonnellate"),
    ("volume", 0.001, "ml millilit#"),
    ("volume", 1, "l litre# liter# litro# litri"),
    ("duration", 1, "second seconds sekunde# seconde# segundo# secondi"),
    ("duration", 60, "min minute# minuto# minuti"),
    ("duration", 3600, "hour# stunde# heure# hora horas"),
    ("duration", 86400, "day days tag tage tagen jour# día# giorni"),
    ("duration", 604800, "week weeks woche# semaine# semana# settimane"),
    ("duration", 2629800, "month months monat# mois mes meses mesi"),
    ("duration", 31557600, "year years jahr# ans année# año# anni"),
    ("speed", 1 / 3.6, "km/h kilomet#_per_hour kilomèt#_par_heure kilómetr#_por_hora stundenkilometer"),
    ("speed", 1, "m/s met#_per_second"),
    ("speed", 0.44704, "mph mile#_per_hour miles_an_hour"),
    ("degrees Celsius", 1, "°c degree#_celsius grad_celsius degré#_celsius"),
    ("degrees Fahrenheit", 1, "°f degree#_fahrenheit"),
    ("people", 1, "people person persons inhabitant# resident# einwohner# habitant# abitanti personnes personen"),
    ("deaths", 1, "death# dead deceased fatalit# lives victim# tote toten mort morts muerto# víctima# morti"),
    ("attendance", 1, "spectator# attendee# zuschauer# spectateur# espectador#"),
    ("€", 1, "euro# eur"),
    ("$", 1, "dollar# usd dólar# dollari"),
    ("£", 1, "gbp"),
    ("share", 1, "процент# بالمئة بالمائة प्रतिशत パーセント"),
    ("length", 1, "метр# متر مترا أمتار मीटर メートル 米 米尺"),
    ("length", 1000, "км километр# كيلومتر# किलोमीटर キロメートル 公里 千米"),
    ("area", 1e6, "кв._км квадратн#_километр# كيلومتر#_مربع# वर्ग_किलोमीटर 平方キロメートル 平方公里 平方千米"),
    ("area", 1, "кв._м квадратн#_метр# متر#_مربع# वर्ग_मीटर 平方メートル 平方米"),
    ("weight", 1, "кг килограмм# كيلوغرام# किलोग्राम किलो キログラム 公斤 千克"),
    ("weight", 1000, "т тонн# طن طنا टन トン 吨"),
    ("duration", 31557600, "год года году лет سنة سنوات عام عاما साल वर्ष 年間"),
    ("duration", 60, "минут# دقيقة دقائق मिनट 分钟 分間"),
    ("duration", 3600, "час часа часов ساعة ساعات घंटे घंटा 小时 時間"),
    ("duration", 86400, "день дня дней يوم يوما أيام दिन 日間 天"),
    ("people", 1, "человек# жител# نسمة شخص شخصا लोग लोगों निवासी निवासियों 人 名 居民"),
    ("€", 1, "евро يورو यूरो ユーロ 欧元 歐元"),
    ("$", 1, "доллар# دولار# डॉलर ドル 美元"),
    ("¥", 1, "円"),
    ("international units", 1, "iu ie ui"),
)
MULTIPLES: dict[str, float] = {
    "hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12, "mn": 1e6, "bn": 1e9,
    "dozen": 12, "tausend": 1e3, "millionen": 1e6, "milliarde": 1e9, "milliarden": 1e9, "mio.": 1e6, "mrd.": 1e9,
    "mille": 1e3, "milliard": 1e9, "millón": 1e6, "millones": 1e6, "mil": 1e3, "milione": 1e6, "milioni": 1e6,
    "miliardi": 1e9, "тысяч": 1e3, "тысяча": 1e3, "тысячи": 1e3, "тыс.": 1e3, "миллион": 1e6, "миллиона": 1e6,
    "миллионов": 1e6, "млн": 1e6, "миллиард": 1e9, "миллиарда": 1e9, "миллиардов": 1e9, "млрд": 1e9,
    "ألف": 1e3, "آلاف": 1e3,
    "مليون": 1e6, "ملايين": 1e6, "مليار": 1e9, "हज़ार": 1e3, "हजार": 1e3, "लाख": 1e5, "करोड़": 1e7,
}  # fmt: skip
# Pattern of the words that multiply a number. Most may end in an s.
MULTIPLE = "|".join(re.escape(word) for word in sorted(MULTIPLES, key=len, reverse=True))
BLANK = r"[\s\u00a0\u202f-]"


def _pattern(spelling: str) -> str:
    return re.escape(spelling).replace("_", BLANK).replace(r"\#", r"[^\W\d_]*")


_SPELLED = sorted(
    ((spelling, dimension, worth) for dimension, worth, spellings in UNITS for spelling in spellings.split()),
    key=lambda each: (-each[0].count("_"), -len(each[0])),  # "miles per hour" before "miles"
)
# Pattern of all spellings, the longest first.
UNIT = "|".join(_pattern(spelling) for spelling, *_ in _SPELLED)


@lru_cache(maxsize=1024)
def unit_of(written: str) -> tuple[str, float] | None:
    """Return the dimension of a unit as it is written, and the value of one unit in it; None for no unit."""
    for spelling, dimension, worth in _SPELLED:
        if re.fullmatch(_pattern(spelling), written.casefold()):
            return dimension, worth
    return None


def times(multiples: str) -> float:
    """Return the factor of words such as "hundred thousand"; 1 for none."""
    product = 1.0
    for word in multiples.casefold().replace("-", " ").split():
        product *= MULTIPLES.get(word) or MULTIPLES[word.removesuffix("s")]
    return product
