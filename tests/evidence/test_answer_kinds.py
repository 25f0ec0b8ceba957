"""Kinds of answer are told from the words that ask, in nine languages."""

from __future__ import annotations

import pytest

from marchwarden.evidence.answer_kinds import general_kind


@pytest.mark.parametrize(
    ("kind", "questions"),
    [
        (
            "date",
            [
                "When was Oslo founded?",
                "Wann wurde Oslo gegründet?",
                "Quand Oslo a-t-elle été fondée ?",
                "¿En qué año se fundó Oslo?",
                "В каком году основан Осло?",
                "متى تأسست أوسلو؟",
                "ओस्लो की स्थापना कब हुई?",
                "オスロは何年に創設されましたか？",
                "奥斯陆是哪一年建立的？",
            ],
        ),
        (
            "number",
            [
                "How many people live in Oslo?",
                "Wie viele Menschen leben in Oslo?",
                "Combien de personnes vivent à Oslo ?",
                "¿Cuántas personas viven en Oslo?",
                "Сколько человек живёт в Осло?",
                "كم شخصا يعيش في أوسلو؟",
                "ओस्लो में कितने लोग रहते हैं?",
                "オスロの人口は何人ですか？",
                "奥斯陆有多少人居住？",
            ],
        ),
        (
            "name",
            [
                "Who founded Oslo?",
                "Wer gründete Oslo?",
                "Qui a fondé Oslo ?",
                "¿Quién fundó Oslo?",
                "Кто основал Осло?",
                "من أسس أوسلو؟",
                "ओस्लो की स्थापना किसने की?",
                "オスロは誰が創設しましたか？",
                "奥斯陆是谁建立的？",
            ],
        ),
    ],
)
def test_dates_numbers_and_names_are_asked_for_in_nine_languages(kind: str, questions: list[str]) -> None:
    found = [general_kind(question) for question in questions]
    assert [each.name if each else None for each in found] == [kind] * len(questions)


@pytest.mark.parametrize(
    ("question", "answer", "no_answer"),
    [
        ("オスロは何年に創設されましたか？", "1048年に創設されました。", "王が創設しました。"),
        ("Кто основал Осло?", "Его основал Харальд в 1048 году.", "Он основан давно."),
        ("奥斯陆有多少人居住？", "约有七十万人居住。", "居民很多。"),
    ],
)
def test_an_answer_of_the_kind_is_known_in_other_scripts(question: str, answer: str, no_answer: str) -> None:
    kind = general_kind(question)
    assert kind is not None
    assert kind.given.search(answer)
    assert not kind.given.search(no_answer)
