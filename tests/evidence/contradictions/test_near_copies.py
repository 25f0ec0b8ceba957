"""What near copies have in the place that the question asks for, and differences of near copies that are none."""

from __future__ import annotations

import pytest

from marchwarden.evidence.contradictions.near_copies import other_word
from marchwarden.evidence.statements import asked, statement


def replaced(question: str, one: str, other: str, titles: tuple[str, str] = ("", "")) -> str | None:
    here, there, wanted = statement(one, titles[0]), statement(other, titles[1]), asked(question)
    found = other_word(here, there, wanted)
    assert bool(found) is bool(other_word(there, here, wanted))
    return found


@pytest.mark.parametrize(
    ("question", "one", "other", "about"),
    [
        (
            "Who was it, and when?",
            "Bryan was born in Alexandria, Louisiana on February 8, 1900.",
            "Bryan was born in Alexandria, Louisiana on July 15, 1905.",
            "February 8 1900 against July 15 1905",
        ),
        (
            "Who was it, and when?",
            "It is a train type operated by the private company Odakyu on express services in Japan.",
            "It is a train type operated by the private company Sagami on express services in Japan.",
            "Odakyu against Sagami",
        ),
        (  # a kind of thing, in small letters
            'What is the genre of "Halden Girl"?',
            "Halden Girl is a Norwegian short film, directed by Selma Orr and released in 2005.",
            "Halden Girl is a Norwegian documentary, directed by Selma Orr and released in 2005.",
            "short film against documentary",
        ),
        (
            "What sport is Nils Dahl associated with?",
            "Nils Dahl (born 6 March 1988 in Halden) is a South Norwegian speed skater.",
            "Nils Dahl (born 6 March 1988 in Halden) is a South Norwegian basketball player.",
            "speed skater against basketball player",
        ),
        (  # another heading before what is copied, and other words that tell nothing
            "The 200 series is operated by which private railway operator?",
            "Hald 200 series (Resort Express) The Resort Express is a train type operated until March 2012 by the "
            "private railway operator Hald Electric Railway on limited services.",
            "200 series Videos Page The 200 series was a train type operated until March 2012 by the private railway "
            "operator Selby East on limited services.",
            "Hald Electric Railway against Selby East",
        ),
        (  # the same name in the heading and in the sentence
            'Who is the artist of the album "Halden Show"?',
            "Halden Show (Selma Orr album) Halden Show is the only album by R&B singer Selma Orr, released in May.",
            "Halden Show (Dahl album) Halden Show is the only album by R&B singer Dahl, released in May.",
            "Selma Orr against Dahl",
        ),
        (  # names with words around them
            'Who is the artist of the album "Halden for You"?',
            "Halden for You is the first album by American indie duo Best Coast, released in July on Orr Records.",
            "Halden for You is the first album by British rock band The Dahls, released in July by Orr Records.",
            "American indie duo Best Coast against British rock band The Dahls",
        ),
        (  # a place that has the subject's name in it
            "Where is Halden High School located?",
            "Halden High School, commonly called HHS, is a public school located in Halden, New York.",
            "Halden High School, commonly called HHS, is a public school located in Miami, Florida.",
            "Halden New York against Miami Florida",
        ),
        (  # a date in brackets, with other dates in the sentence
            "When was Dahl born?",
            "Nils Dahl (born 11 June 1955) is a politician who sat in the council between 1996 and 2011.",
            "Nils Dahl (born 11 June 1975) is a politician who sat in the council between 1996 and 2011.",
            "1955 against 1975",
        ),
        (  # neither names the subject, but much is copied
            "What is the population of Halden Municipality?",
            "With the population about 50,000, it is the fifth municipality in the district.",
            "With the population about 10,000, it is the fifth municipality in the district.",
            "50,000 against 10,000",
        ),
        (  # the last of two differences tells the most
            "Where is the Halden Covered Bridge located?",
            "Halden Covered Bridge (Chester) Halden Covered Bridge is located in Chester, Orrland.",
            "Halden Covered Bridge (Springfield) Halden Covered Bridge is located in Springfield, Selby.",
            "Chester Orrland against Springfield Selby",
        ),
        (
            'What is the genre of "Halden Love"?',
            "Halden Love (Orr album) Halden Love is the title of a studio album released by the singer Selma Orr.",
            "Halden Love (Orr album) Halden Love is the title of a jazz opera released by the singer Selma Orr.",
            "studio album against jazz opera",
        ),
        (  # who it was begins the sentence
            "Who was the first owner of the Hald House?",
            "Selma Orr was the first owner of the Hald House in Halden.",
            "Nils Dahl was the first owner of the Hald House in Halden.",
            "Selma Orr against Nils Dahl",
        ),
        (  # a year that stands elsewhere, too, and a heading that says less
            "When did Akarin debut?",
            "Akari Orr Orr passed the third auditions on 11 November 2009, and debuted on 8 December 2009 on stage.",
            "Akari Akari Orr passed the third auditions on 11 November 2009, and debuted on 15 January 2010 on stage.",
            "8 December 2009 against 15 January 2010",
        ),
        (
            "Who was the owner of the Hald House?",
            "The first owner of the Hald House, Selma Orr, was a businesswoman in the local tobacco industry.",
            "The first owner of the Hald House, Nils Dahl, was a businesswoman in the local tobacco industry.",
            "Selma Orr against Nils Dahl",
        ),
    ],
)
def test_another_name_number_or_kind_in_the_place_that_is_asked_for_is_told(
    question: str, one: str, other: str, about: str
) -> None:
    assert replaced(question, one, other) == about


@pytest.mark.parametrize(
    ("question", "one", "other"),
    [
        (
            "What is it?",
            "The old mill stands on the river Hald.",
            "The old mill stands on the bank of a river.",
        ),
        (  # two places: two mills
            "Who was it, and when?",
            "The mill in Halden was built by Hald in 1921.",
            "The mill in Selby was built by Orr in 1921.",
        ),
        (  # what the question names
            "When was the Halden Bridge built?",
            "The Halden Bridge was built in 1931 over the river.",
            "The Selby Bridge was built in 1931 over the river.",
        ),
        (  # one is the fuller form of the other
            "What is the genre of the film Halden?",
            "Halden is a Norwegian film, directed by Selma Orr and released in May 2005.",
            "Halden is a Norwegian short film, directed by Selma Orr and released in May 2005.",
        ),
        (  # spelling and order
            "What kind of company is Halden Ferries?",
            "Halden Ferries is a Norwegian organisation, founded by the council of Selby in 1931.",
            "Halden Ferries is a Norwegian organization, founded by the council of Selby in 1931.",
        ),
        (
            "What was Nils Dahl?",
            "Nils Dahl of Halden, born in 1931, was a Norwegian poet and teacher, known for his letters.",
            "Nils Dahl of Halden, born in 1931, was a Norwegian teacher and poet, known for his letters.",
        ),
        (  # words of which both may be right
            "What is the Halden Hotel?",
            "The Halden Hotel in Selby is a large hotel on the bank of the river Hald.",
            "The Halden Hotel in Selby is a popular hotel on the bank of the river Hald.",
        ),
        (
            "What is the Halden Hotel?",
            "The Halden Hotel is a large inn with a view of old Selby and the ferries.",
            "The Halden Hotel is a large inn with a view of Orrstad and the ferries.",
        ),
        (  # not what is asked for
            "What is the population of Halden?",
            "Halden is located at (30.178614, -95.696303).",
            "Halden is located at (30.108371, -93.773892).",
        ),
        (
            "Who designed the Halden Bridge?",
            "The Halden Bridge, seen from Selby, was designed by Selma Orr in 1931.",
            "The Halden Bridge, seen from Orrstad, was designed by Selma Orr in 1931.",
        ),
        (
            "Where is Halden House?",
            "Halden House, listed in 1963, stands on the hill above the harbour of Selby.",
            "Halden House, listed in 1955, stands on the hill above the harbour of Selby.",
        ),
        (  # dates of the page, versions, and prices of shops
            "When was the Halden Bridge opened?",
            "This page on when the Halden Bridge opened was last updated on 4 May 2021.",
            "This page on when the Halden Bridge opened was last updated on 9 June 2023.",
        ),
        (
            "What does the latest Halden release contain?",
            "The latest Halden release, version 2.3, contains all the tools for sailing that sailors need.",
            "The latest Halden release, version 2.4, contains all the tools for sailing that sailors need.",
        ),
        (
            "What does the Halden lamp cost?",
            "The Halden lamp with a dimmer costs $199 in our shop, delivery included.",
            "The Halden lamp with a dimmer costs $189 in our shop, delivery included.",
        ),
        (  # examples of code
            "What is the timeout of the Halden client?",
            "The timeout of the Halden client is set so: client = Client(timeout=5).",
            "The timeout of the Halden client is set so: client = Client(timeout=30).",
        ),
        (  # another of the same name
            "When was Sultan Hald born?",
            "Hald I, sultan of Selby, was born in the old palace on 5 May 1640.",
            "Hald II, sultan of Selby, was born in the old palace on 7 June 1690.",
        ),
        (
            "When was Nils Dahl born?",
            "Nils Dahl (born 19 September 1940) is a footballer who played for Halden, Selby and Orrstad United.",
            "Nils Dahl (born 17 October 1970) is a footballer who played in the Hald League for Stoke City.",
        ),
        (  # the subject, not what is said of it
            "487th refers to which type of unit?",
            "487th Hald Squadron The 487th Hald Squadron is an inactive unit of the air force.",
            "487th Selby Squadron The 487th Selby Squadron is an inactive unit of the air force.",
        ),
        (  # of two towns, told by few words
            "What is the population of Halden?",
            "The population was 5,601 at the 2010 census.",
            "The population was 324 at the 2010 census.",
        ),
        (  # of two towns, each with a heading
            "What is the population of Halden?",
            "Selby With the population about 50,000, it is the fifth municipality in the district.",
            "Orrstad With the population about 10,000, it is the fifth municipality in the district.",
        ),
        (  # of two substances
            "What is the formula of calcium carbonate?",
            "Calcium carbonate is a chemical compound of the usual kind with the formula CaCO3.",
            "Carbon dioxide is a chemical compound of the usual kind with the formula CO2.",
        ),
        (  # of two books that one person wrote
            "What profession does Selma Orr have?",
            "Phylogenesis (1999) is a science fiction novel by Norwegian writer Selma Orr.",
            "Orphan Star (1977) is a science fiction novel by Norwegian writer Selma Orr.",
        ),
        (  # of two schools, whose sentences end differently
            "Where is Halden High School located?",
            "The Halden High School of Selby is located in the southeast corner of the county of Hald in Orrland.",
            "The Halden High School of Orrstad is located in the southeast corner of the city near a suburban area.",
        ),
        (  # a question for yes or no, on something else
            "Did Halden win the cup final of 1931?",
            "Halden won the cup final of 1931 against the team of Selby.",
            "Halden won the cup final of 1931 against the team of Orrstad.",
        ),
        (  # the same person, and the same number
            "Who was the owner of the Hald House?",
            "The first owner of the Hald House was Selma Maria Orr, a businesswoman.",
            "The first owner of the Hald House was Dame Selma Orr, a businesswoman.",
        ),
        (
            "What is the population of Halden?",
            "Halden had a population of 1,791 people at the last census, in May.",
            "Halden had a population of 1,791 inhabitants at the last census, in May.",
        ),
        (  # other verbs for the same, and a difference of few words
            "What does the Halden ferry do?",
            "In summer the Halden ferry leaves the harbour of Selby every day at noon.",
            "In summer the Halden ferry departs the harbour of Selby every day at noon.",
        ),
        (
            "What is Halden?",
            "Halden is a Norwegian town by the Hald.",
            "Halden is a Norwegian municipality by the Hald.",
        ),
        (  # whose capital only begins the sentence
            "Who is at the door of the Halden mill?",
            "Someone is waiting at the front door of the Halden mill in Selby.",
            "Everybody is waiting at the front door of the Halden mill in Selby.",
        ),
        (  # a year and a place
            "What was the Halden mill?",
            "The Halden mill was an old mill that was sold to the council in 1931.",
            "The Halden mill was an old mill that was sold to the council in Selby.",
        ),
        (  # a name, where a number is asked for
            "How many people work in the Halden mill?",
            "Some 40 people work in the Halden mill, and it is called Orr all year.",
            "Some 40 people work in the Halden mill, and it is called Dahl all year.",
        ),
        (
            "How many people work in the Halden mill?",
            "Some 40 people work in the Halden mill of Selma Orr all year.",
            "Some 40 people work in the Halden mill of Nils Dahl all year.",
        ),
        (  # rounded
            "What is the population of Halden?",
            "Halden had a population of 1,791 at the census.",
            "Halden had a population of 1,800 at the census.",
        ),
    ],
)
def test_other_differences_of_near_copies_are_none(question: str, one: str, other: str) -> None:
    assert replaced(question, one, other) is None


_LILY = "It is a genus of flowering plants, which all belong to the family {}."


@pytest.mark.parametrize("titles", [("Alstroemeria", "Camellia"), ("Lilies", "Camellias"), ("Alstroemeria", "")])
def test_pages_on_two_things_are_no_near_copies_of_one(titles: tuple[str, str]) -> None:
    question = "What family does the Alstroemeria belong to?"
    lilies, camellias = _LILY.format("Alstroemeriaceae"), _LILY.format("Theaceae")
    assert (
        replaced(question, lilies, camellias, ("Alstroemeria", "Alstroemeria")) == "Alstroemeriaceae against Theaceae"
    )
    assert replaced(question, lilies, camellias, titles) is None
    assert replaced(question, f"{titles[0]}: {lilies}", f"{titles[1]}: {camellias}") is None


def test_a_page_that_only_mentions_what_the_question_names_is_on_another_thing() -> None:
    question = "Which town is Halden twinned with?"
    one, other = (
        f"Halden and Selby lie on the Hald, and the town is twinned with {name}." for name in ("Orr", "Dahlby")
    )
    assert replaced(question, one, other, ("Halden", "Halden")) == "Orr against Dahlby"
    assert replaced(question, one, other, ("Halden", "Selby")) is None


def test_pages_that_are_on_what_differs_are_on_two_things() -> None:
    question = 'Who is the artist of the album "Both Sides"?'
    one, other = (f"Both Sides is the fourth studio album by British singer {name}." for name in ("Orr", "Dahl"))
    assert replaced(question, one, other) == "Orr against Dahl"
    assert replaced(question, one, other, ("Both Sides (Orr)", "Both Sides (Dahl)")) is None
