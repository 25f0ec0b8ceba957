"""Numbers that a text states, in digits or in words, in comparable form."""

import re

NUMBER = re.compile(r"\d[\d.,:]*\d|\d")
SMALL_NUMBERS = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty",
]  # fmt: skip


def numbers_in(text: str) -> set[str]:
    """Return the numbers of a text in comparable form: without thousands separators, number words as digits."""
    found = {number.replace(",", "").rstrip(".:") for number in NUMBER.findall(text)}
    words = set(re.findall(r"[a-z]+", text.casefold()))
    return found | {str(value) for value, word in enumerate(SMALL_NUMBERS) if word in words and word != "one"}
