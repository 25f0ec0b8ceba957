"""A question taken apart by rule: its aspects, its names, a query of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.evidence.asking.telling_words import names_in
from marchwarden.evidence.question import (
    QUERY_LIMIT,
    as_query,
    focuses,
    own_words,
    sides_of,
    split_question,
    standalone,
)
from marchwarden.text.turns import NOTHING_FOUND, as_context, turn_of


@pytest.mark.parametrize(
    ("question", "aspects"),
    [
        ("What are ideal crops for a garden in Utah?", ["What are ideal crops for a garden in Utah"]),
        ("When was Oslo founded, and who founded it?", ["When was Oslo founded", "who founded it (Oslo)"]),
        ("What is the capital of France and how many people live there?", ["What is the capital of France", "how many people live there (France)"]),
        ("When did the AI Act enter into force, when did its bans apply, and how high are the fines?", ["When did the AI Act enter into force", "when did its bans apply (AI Act)", "how high are the fines (AI Act)"]),
        ("When did the first AI winter begin, and why?", ["When did the first AI winter begin, why"]),
        ("Compare arabica and robusta", ["Compare arabica and robusta"]),
        ("I live in St. George and want to grow tomatoes. When do I put them in the ground?", ["When do I put them in the ground (grow tomatoes St George)"]),
        ("We visited Mt. Vesuvius last year. When did it last erupt?", ["When did it last erupt (Mt Vesuvius)"]),
        ("My doctor says my vitamin D is low. How much should I take a day?", ["How much should I take a day (vitamin D)"]),
        ("I took the D train in Oslo. How long does it take?", ["How long does it take (D)"]),
        ("I live in Berlin and bought an e-bike. Can I ride it on paths?", ["Can I ride it on paths (bought e-bike Berlin)"]),
        ("Is bread and butter healthy?", ["Is bread and butter healthy"]),
        ("Is there a paper on the bridge, and what does it report?", ["Is there a paper on the bridge, what does it report"]),
        ("Which vaccines use mRNA, and who invented them?", ["Which vaccines use mRNA", "who invented them (mRNA)"]),
        ("Under the GDPR, how long may an answer take, does the law bind firms abroad, and has a court ruled on it?", ["Under the GDPR, how long may an answer take", "does the law bind firms abroad (GDPR)", "has a court ruled on it (GDPR)"]),
        ("A talk on La Paz, Bolivia: who founded it, and in what year did the cable cars open?", ["who founded it (La Paz Bolivia)", "in what year did the cable cars open (La Paz Bolivia)"]),
        ("Who patented decaffeination, in which year did rust reach Ceylon?", ["Who patented decaffeination", "in which year did rust reach Ceylon"]),
        ("In what year was the editor published, and who paid?", ["In what year was the editor published", "who paid"]),
        ("What is the law, which was passed in 2016, about?", ["What is the law, which was passed in 2016, about"]),
        ("???", ["???"]),
        ("According to Shannon, what is information, and how is it measured?", ["According to Shannon, what is information", "how is it measured (Shannon)"]),
        ("1) When was Oslo founded? 2) Who founded it?", ["When was Oslo founded", "Who founded it (Oslo)"]),
        ("a) when was oslo founded b) who founded it", ["when was oslo founded", "who founded it (oslo)"]),
        ("HOW MANY DAYS OF LEAVE DOES ARDMERE SOUTH GRANT?", ["how many days of leave does ardmere south grant"]),
        ("When and where was Ada Lovelace born?", ["When and where was Ada Lovelace born"]),
        ("Tell me about Lake Geneva: 1) surface area 2) depth", ["surface area (Lake Geneva)", "depth (Lake Geneva)"]),
        ("Thinkific or Kajabi: what is the lowest price of each?", ["what is the lowest price of each (Thinkific Kajabi)"]),
        ("python logging: how do I make it faster?", ["how do I make it faster (python logging)"]),
        ("I have read about the Halden Bridge. Who designed it and when did it open?", ["Who designed it (Halden Bridge)", "when did it open (Halden Bridge)"]),
        ("Therapeutic anticoagulation in the trauma patient: is it safe?", ["is it safe (Therapeutic anticoagulation trauma patient)"]),
        ("Amblyopia: is visual loss permanent, and is it treated?", ["is visual loss permanent (Amblyopia)", "is it treated (Amblyopia)"]),
        ("Human papillomavirus and pterygium. Is the virus a risk factor?", ["Is the virus a risk factor (Human papillomavirus pterygium)"]),
        ("Sexual behaviour among US students: is it changing?", ["is it changing (Sexual behaviour among US students)"]),
        ("The Halden Arrow was ordered in 1971. What was the previous ship?", ["What was the previous ship (Halden Arrow)"]),
        ("the arrow was ordered in 1971. what was the previous ship?", ["what was the previous ship (arrow ordered 1971)"]),
        ("Is oak hard? I build an Adirondack chair. Which saw is best?", ["Is oak hard", "Which saw is best (Adirondack)"]),
        ("Is oak hard? My legs ache but nothing is weak. Does that point to early ALS?", ["Is oak hard", "Does that point to early ALS"]),
        ("How old is Oslo? I use Arch Linux. Which setting makes it remember me?", ["How old is Oslo", "Which setting makes it remember me (Arch Linux)"]),
        ("How old is Oslo? Python logging: how do I make it faster?", ["How old is Oslo", "how do I make it faster (Python logging)"]),
        ("How old is Oslo? When was the heatwave in which Hopetoun recorded its highest temperature?", ["How old is Oslo", "When was the heatwave in which Hopetoun recorded its highest temperature"]),
        ("Is Oslo old? How many countries of the world have a republic as their form of government?", ["Is Oslo old", "How many countries of the world have a republic as their form of government"]),
        ("Wann wurde Oslo gegründet und wer gründete es?", ["Wann wurde Oslo gegründet", "wer gründete es (Oslo)"]),
        ("Когда основан Осло и кто его основал?", ["Когда основан Осло", "кто его основал (Осло)"]),
        ("タルニクの人口は何人ですか？", ["タルニクの人口は何人ですか"]),
        ("i am writing about mauna loa. when did it last erupt?", ["when did it last erupt (mauna loa)"]),
        ("My brother Oskar likes whales. How long was the longest blue whale that was ever measured?", ["How long was the longest blue whale that was ever measured"]),
        ("I build an Adirondack chair. Which saw cuts the concave curves best?", ["Which saw cuts the concave curves best (Adirondack chair)"]),
        # What is said of the asker's own lot belongs to a question that says little by itself.
        ("My daughter has coeliac disease. Can she eat sourdough bread?", ["Can she eat sourdough bread (coeliac disease)"]),
        ("My son is 5. How many hours of sleep does he need?", ["How many hours of sleep does he need (5 years)"]),
        ("I'm pregnant, how many cups of coffee can I have a day?", ["how many cups of coffee can I have a day (pregnant)"]),
        ("As a child I was told I'm allergic to penicillin. Is that likely to be true still?", ["Is that likely to be true still (allergic penicillin)"]),
        ("My vase hydrangeas are drooping. How can I bring them back?", ["How can I bring them back (vase hydrangeas drooping)"]),
        ("I am writing a school essay. How tall is the Eiffel Tower?", ["How tall is the Eiffel Tower"]),
        ("I have small wrists. What is the snag with the Garmin Enduro 3?", ["What is the snag with the Garmin Enduro 3"]),
        ("My husband has asked me. Why is the sky blue?", ["Why is the sky blue"]),
        ("What is the list price of Casgevy, and who makes it?", ["What is the list price of Casgevy", "who makes it (Casgevy)"]),
        ("Who made the chessmen of Howard Staunton, and when was that?", ["Who made the chessmen of Howard Staunton, when was that"]),
    ],
)  # fmt: skip
def test_a_question_is_split_where_it_asks_something_of_its_own(question: str, aspects: list[str]) -> None:
    assert split_question(question) == aspects


@pytest.mark.parametrize(
    ("question", "context", "aspect"),
    [
        ("Where did he work?", "I write on Claude Shannon, who was at Bell Labs.", "Where did he work (Claude Shannon)"),
        ("What would it cost?", "I want therapy with Talkspace, but feel ashamed.", "What would it cost (Talkspace)"),
        ("And who beat him?", "Capablanca was world chess champion from 1921", "who beat him (Capablanca)"),
        ("When did he die?", "Kolschitzky opened a coffee house in Vienna.", "When did he die (Kolschitzky)"),
        ("Where did he live?", "The teacher was in Rome.", "Where did he live (teacher Rome)"),
        ("How many people live there?", "We move to Oslo with Anna.", "How many people live there (Oslo)"),
        ("Does it run in families?", "My sister Anna has lupus.", "Does it run in families"),
        ("How old was the whale whose age its eye told?", "I know Melville.", "How old was the whale whose age its eye told"),
        ("Who wrote Moby Dick?", "My sister Anna has lupus.", "Who wrote Moby Dick"),
    ],
)  # fmt: skip
def test_the_context_gives_a_pronoun_its_name_and_nothing_else(question: str, context: str, aspect: str) -> None:
    assert split_question(question, context) == [aspect]


@pytest.mark.parametrize(
    ("question", "context", "aspect"),
    [
        ("What about decaf?", "A cup of brewed coffee has about 95 mg of caffeine.", "What about decaf (cup brewed coffee mg caffeine)"),
        ("Who was second?", "The United States holds more gold than any other country.", "Who was second (United States holds gold country)"),
        ("How about in winter?", "I am growing peas. Peas need full sun.", "How about in winter (Peas need full sun)"),
        ("What about my sister?", "My sister has asthma.", "What about my sister"),
        ("What about the decaf of this brand?", "A cup of brewed coffee has 95 mg.", "What about the decaf of this brand (cup brewed coffee mg)"),
    ],
)  # fmt: skip
def test_a_question_that_says_almost_nothing_is_about_what_was_told_last(
    question: str, context: str, aspect: str
) -> None:
    assert split_question(question, context) == [aspect]


@pytest.mark.parametrize(
    ("question", "before", "answer", "aspect"),
    [
        ("And who beat him?", "Who was world chess champion from 1921?", "José Capablanca was world chess champion from 1921.", "who beat him (José Capablanca world chess champion)"),
        ("Where was that match held?", "who beat him (José Capablanca)?", "Alexander Alekhine beat Capablanca in 1927.", "Where was that match held (Alexander Alekhine beat José Capablanca)"),
        ("When did he open it?", "Who opened the first coffee house in London?", "Coffee houses opened in Constantinople in the 1550s. The first coffee house in London was opened by Pasqua Rosée in 1652.", "When did he open it (Pasqua Rosée)"),
        ("And in Germany?", "What is the VAT rate in France?", "The VAT rate in France is 20 %.", "in Germany (VAT rate)"),
        ("What about decaf?", "How much caffeine is in a cup of coffee?", "A cup of coffee has 95 mg.", "What about decaf (caffeine cup coffee)"),
        ("And Lyfgenia?", "What does Casgevy cost?", "Casgevy costs 2.2 million dollars.", "Lyfgenia (cost)"),
        ("And the population?", "What is the capital of Australia?", "Canberra is the capital of Australia.", "the population (Canberra capital Australia)"),
        ("what are its side effects?", "what is aspirin used for?", "Aspirin is used against pain.", "what are its side effects (aspirin)"),
        ("Und wer hat ihn besiegt?", "Wer war 1921 Schachweltmeister?", "José Capablanca war Weltmeister.", "Und wer hat ihn besiegt (José Capablanca 1921 Schachweltmeister)"),
        ("Und wann schließt er?", "Wann öffnet der Stand?", "Der Stand öffnet um 8 Uhr.", "Und wann schließt er (Stand)"),
        ("Wie viel Strom verbraucht sie im Jahr?", "Was ist eine Wärmepumpe?", NOTHING_FOUND, "Wie viel Strom verbraucht sie im Jahr (Wärmepumpe)"),
        ("Und in Deutschland?", "Wie hoch ist der Steuersatz in Frankreich?", "Er beträgt 20 %.", "Und in Deutschland (Steuersatz)"),
        ("Und Göttingen?", "Wie viele Einwohner hat Kassel?", "Kassel hat 200.000 Einwohner.", "Und Göttingen (Einwohner)"),
        ("Wann hat Jena seine Straßenbahn eröffnet?", "Wie alt ist die Eiche?", "Sie ist alt.", "Wann hat Jena seine Straßenbahn eröffnet"),
        ("Gibt es in Bremen eine Straßenbahn?", "Wie alt ist die Eiche?", "Sie ist alt.", "Gibt es in Bremen eine Straßenbahn"),
        ("Who wrote Moby Dick?", "what is aspirin used for?", "Aspirin is used against pain.", "Who wrote Moby Dick"),
        ("When was it founded?", "Who founded CERN?", NOTHING_FOUND, "When was it founded (CERN)"),
        ("what does it cost?", "what is aspirin used for?", NOTHING_FOUND, "what does it cost (aspirin)"),
    ],
)  # fmt: skip
def test_a_follow_up_takes_what_it_leaves_out_from_the_turn_before(
    question: str, before: str, answer: str, aspect: str
) -> None:
    context = as_context(
        [turn_of("What is the weather in Oslo?", "It rains in Oslo."), turn_of(before, answer)], 2000
    )
    assert split_question(question, context) == [aspect]
    assert standalone(question, context) == aspect


def test_what_was_said_in_a_conversation_is_not_the_callers_own_affair() -> None:
    context = as_context([turn_of("How do I grow peas?", "We sow peas in spring.")], 2000, "My sister has asthma.")
    assert own_words(context) == own_words("My sister has asthma.")


def test_a_focus_tells_nothing_of_the_caller() -> None:
    question = "When was Oslo founded?"
    assert focuses("I am interested in this because my boss fired me. Focus on the harbour.", question) == [
        "the harbour (Oslo)"
    ]


@pytest.mark.parametrize(
    ("question", "sides"),
    [
        ("Does Switzerland or France own the larger share of Lake Geneva?", ["Does Switzerland own the larger share of Lake Geneva?", "Does France own the larger share of Lake Geneva?"]),
        ("Thinkific or Kajabi: what is the lowest price?", ["Thinkific: what is the lowest price?", "Kajabi: what is the lowest price?"]),
        ("What is the difference between arabica and robusta?", ["What is the difference between arabica?", "What is the difference between robusta?"]),
        ("Compare the Halden Bridge with the Tista Bridge in length", ["Compare the Halden Bridge in length", "Compare the Tista Bridge in length"]),
        ("Is oat milk healthy or not?", []),
        ("Who founded Oslo and when?", []),
    ],
)  # fmt: skip
def test_each_side_of_a_comparison_can_be_searched_for(question: str, sides: list[str]) -> None:
    assert sides_of(question) == sides


@given(st.text(min_size=1, max_size=500).filter(str.strip))
def test_every_question_has_between_one_and_six_aspects(question: str) -> None:
    assert 1 <= len(split_question(question)) <= 6


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("What is the capital of France?", ["France"]),
        ("Did the FDA approve Casgevy in 2023?", ["FDA", "Casgevy", "2023"]),
        ("Who am I and what is Ruth Chepngetich's record?", ["Ruth", "Chepngetich's"]),
        ("Compare Arabica and Robusta", ["Arabica", "Robusta"]),
        ("HubSpot or Kajabi: which is cheaper in May?", ["HubSpot", "Kajabi"]),
        ("Is there a Black Friday offer of NordLayer on Monday?", ["Black", "Friday", "NordLayer"]),
        ("Wie viele Tore fielen bei der Weltmeisterschaft 1954 im Schnitt?", ["1954"]),
        ("What Is The Capital Of France?", []),
        ("HOW MANY PEOPLE LIVE IN OSLO?", []),
    ],
)
def test_names_are_words_whose_capital_tells_something_and_numbers(question: str, names: list[str]) -> None:
    assert names_in(question) == names


@given(st.text(max_size=900))
def test_a_query_has_at_most_400_characters_and_ends_between_words(text: str) -> None:
    query = as_query(text)
    assert len(query) <= QUERY_LIMIT
    words = " ".join(text.split())
    assert words.startswith(query)
    assert len(words) <= 400 or " " not in words[:401] or words[len(query)] == " "
