"""Where sentences end: labelled paragraphs of our own in many languages, and single cases."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.reading.sentences import LABELLED, read_labelled, score
from marchwarden.text.segmentation.sentences import sentences

LANGUAGES = sorted(path.stem for path in LABELLED.glob("*.txt"))
WRITTEN_DIFFERENTLY = ("ar", "hi", "ja", "ko", "ru", "zh")
"""In a script that tells the language, whatever is declared."""


@pytest.mark.parametrize("language", LANGUAGES)
def test_sentences_of_a_language_are_found(language: str) -> None:
    found = score(read_labelled(LABELLED / f"{language}.txt"), language)
    assert found.precision >= 0.95, "\n".join(found.wrong)
    assert found.recall >= 0.95, "\n".join(found.wrong)


@pytest.mark.parametrize("declared", ["en", "de", "xx"])
@pytest.mark.parametrize("language", WRITTEN_DIFFERENTLY)
def test_a_script_tells_its_language_where_another_is_declared(language: str, declared: str) -> None:
    paragraphs = read_labelled(LABELLED / f"{language}.txt")
    assert score(paragraphs, declared).precision >= 0.95
    assert score(paragraphs, declared).recall >= 0.95


@given(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=400), st.sampled_from([None, "en", "de", "ko", "xx"])
)
def test_sentences_cover_the_text_without_gaps(text: str, language: str | None) -> None:
    spans = sentences(text, language)
    assert spans[0][0] == 0
    assert spans[-1][1] == len(text)
    assert all(before[1] == after[0] for before, after in pairwise(spans))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Frost ends in May. Then plant.", ["Frost ends in May.", "Then plant."]),
        ("The U.S. Department of Agriculture says so.", ["The U.S. Department of Agriculture says so."]),
        ("See vol. 3 and Fig. 4. It rained 5.5 in. in all.", ["See vol. 3 and Fig. 4.", "It rained 5.5 in. in all."]),
        ("Approx. 10 in. of rain fell.", ["Approx. 10 in. of rain fell."]),
        ("1. Sow peas. 2. Sow beans.", ["1. Sow peas.", "2. Sow beans."]),
        ("1. sand 2. loam 3. clay", ["1. sand", "2. loam", "3. clay"]),
        ("• sand\n• loam\n• clay", ["• sand", "• loam", "• clay"]),
        ("Rain fell.[3] It stopped.[4][a]", ["Rain fell.[3]", "It stopped.[4][a]"]),
        ("One line\nthat goes on. Another.", ["One line\nthat goes on.", "Another."]),
        ("One paragraph\n\nand another", ["One paragraph", "and another"]),
        ("Wirklich? Ja.", ["Wirklich?", "Ja."]),
        ("Beets bear 4 dS/m. Salt is leached.", ["Beets bear 4 dS/m.", "Salt is leached."]),
        ("It is 0 °C. Cover at 5 m. Then wait.", ["It is 0 °C.", "Cover at 5 m.", "Then wait."]),
        ("Come to 201 E. Oak St. at six.", ["Come to 201 E. Oak St. at six."]),
        ("Come to 12 S. 3rd Ave. at six.", ["Come to 12 S. 3rd Ave. at six."]),
        ("It takes 60 W. Lamps take 5.", ["It takes 60 W.", "Lamps take 5."]),
        ("In K.-H. W. v. Germany it was so.", ["In K.-H. W. v. Germany it was so."]),
        ("第一句。第二句。", ["第一句。", "第二句。"]),
        ("i had one. it was small. why not?", ["i had one.", "it was small.", "why not?"]),
        ("The food is mediocre at best. the waitress left.", ["The food is mediocre at best.", "the waitress left."]),
        ("It takes approx. ten min. to the max. of 5.", ["It takes approx. ten min. to the max. of 5."]),
        ("Es kostet inkl. der Fracht, zzgl. der Steuer, viel.", ["Es kostet inkl. der Fracht, zzgl. der Steuer, viel."]),
        ("It works wonders.You'll see.", ["It works wonders.", "You'll see."]),
        ("Yahoo! is a name. is it? it is", ["Yahoo! is a name.", "is it?", "it is"]),
        ("Ի՞նչ է: Ոչինչ:", ["Ի՞նչ է:", "Ոչինչ:"]),
        ("Եկավ 1813 թ. գարնանը (վաղ): Գնաց...: Չկա:", ["Եկավ 1813 թ. գարնանը (վաղ):", "Գնաց...:", "Չկա:"]),
        ("Τι είναι; Τίποτα.", ["Τι είναι;", "Τίποτα."]),
        ("A ! marks what is new. Use the ? (try) sign.", ["A ! marks what is new.", "Use the ? (try) sign."]),
        ("Nach 5 Min. Ruhe war es für mich. So kam es.", ["Nach 5 Min. Ruhe war es für mich.", "So kam es."]),
        ("Disse che no. L'art. 5 non vale.", ["Disse che no.", "L'art. 5 non vale."]),
        ("81 waren da. ...und dann kamen alle.", ["81 waren da.", "...und dann kamen alle."]),
        ("„Wer?“ Niemand. „Du!“, rief er.", ["„Wer?“", "Niemand.", "„Du!“, rief er."]),
        ("“安静！”老师说。没有人听。", ["“安静！”老师说。", "没有人听。"]),
        ("“一切都结束了。”在比赛之后，他在报纸上这样写道。", ["“一切都结束了。”", "在比赛之后，他在报纸上这样写道。"]),
        ("เมื่อวันที่ 28 มี.ค. ที่ผ่านมา", ["เมื่อวันที่ 28 มี.ค. ที่ผ่านมา"]),
        ("ｗｗｗ．ｅｘａｍｐｌｅ．ｊｐを見る．次へ．", ["ｗｗｗ．ｅｘａｍｐｌｅ．ｊｐを見る．", "次へ．"]),
        ("It was so.Then it was not.", ["It was so.", "Then it was not."]),
        ("Call config.Load or Config.All of it.", ["Call config.Load or Config.All of it."]),
        ("How nice!Welcome to it, page?Id=3 and all.", ["How nice!", "Welcome to it, page?Id=3 and all."]),
        ("İ) one ß) two", ["İ) one ß) two"]),
        ("Mix: 他来了。He left. 她走了。", ["Mix: 他来了。", "He left.", "她走了。"]),
    ],
)  # fmt: skip
def test_sentences_end_where_a_reader_ends_them(text: str, found: list[str]) -> None:
    assert [text[start:end].strip() for start, end in sentences(text)] == found


def test_an_unknown_language_is_read_as_english() -> None:
    assert sentences("One. Two.", "tlh-Latn") == sentences("One. Two.", "en")
