"""One ledger of all that the researchers quoted, as if one researcher had read it: by the investigator's own
sub-questions, measured by its own rules. The order in which results came back makes no difference. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from marchwarden.contract import Gap, GapCategory, Lineage, SourceAuthority
from marchwarden.evidence.close_reading import read_closely
from marchwarden.evidence.confidence import authority_of
from marchwarden.evidence.relevance import PageTerms, Relevance, TermRarity
from marchwarden.evidence.windows import Window
from marchwarden.http.addresses import publisher_of
from marchwarden.judge.answering import AnswerJudge
from marchwarden.ledger import Aspect, Excerpt, Lead, Ledger, ReportedGap
from marchwarden.observations import Page, Passage, is_file, plain_line
from marchwarden.orchestrator.rihla import Rihla, Unserved, aspect_of, is_settled_by
from marchwarden.orchestrator.verified_evidence import Quote, QuotedPage
from marchwarden.programs.parameters import DEFAULT, Parameters
from marchwarden.sources.recorded_tools import recorded_notice
from marchwarden.stages.discoveries import find_pointers
from marchwarden.stages.gaps import lost_researcher
from marchwarden.text.embedding import Embedder
from marchwarden.text.ranking import coverage, terms

# Discoveries of researchers that a result hands on, at most. A guess.
MOST_HANDED_ON = 5
# Discoveries that nobody could follow of which a result makes gaps, at most, and sources of a sub-question from which
# on it makes none. Guesses.
MOST_POINTED_AT, FEW_SOURCES = 2, 2
# Origins of rihlas that look for something besides the question: what these lack is no gap of it.
_BESIDE = ("open_question", "tie_break", "discovery")
# Characters of a quote that a gap shows, at most. A guess.
_SHOWN_CHARS = 200


@dataclass
class Merger:
    """Makes the ledger of an investigation from what its rihlas brought; terms of a page are found once."""

    question: str
    context: str | None
    aspects: list[str]
    parameters: Parameters = DEFAULT
    embedder: Embedder | None = None
    judge: AnswerJudge | None = None
    """Judge of quotes, and of the researchers of this process before they quote; None where nobody judges."""
    _known: dict[str, PageTerms] = field(default_factory=dict)

    def ledger(self, rihlas: Sequence[Rihla], unserved: Sequence[Unserved] = (), *, is_last: bool = False) -> Ledger:
        """Return the ledger of what the rihlas brought; `is_last`: nobody is asked any more.

        Then a quote that no rule here takes for an answer counts as one where its researcher answered with it.
        """
        ledger = Ledger(question=self.question, context=self.context)
        ledger.set_aspects(self.aspects)
        in_order = sorted(rihlas, key=lambda rihla: rihla.number)
        quoted = [(rihla, page) for rihla in in_order for page in rihla.evidence]
        merged = self._add_pages(ledger, quoted)
        self._add_excerpts(ledger, merged, is_last=is_last)
        _add_reports(ledger, in_order, unserved)
        ledger.researchers_failed = bool(rihlas) and all(rihla.has_failed for rihla in rihlas)
        return ledger

    def _add_pages(
        self, ledger: Ledger, quoted: Sequence[tuple[Rihla, QuotedPage]]
    ) -> list[tuple[Rihla, QuotedPage, list[Quote]]]:
        """Add each page once, whoever quoted it, and return it with all that was quoted from it."""
        merged: dict[str, tuple[Rihla, QuotedPage, list[Quote]]] = {}
        by_text: dict[str, str] = {}
        for rihla, each in quoted:
            page = each.page
            url = by_text.setdefault(page.text_hash, page.url)
            if url in merged:
                _, first, kept = merged[url]
                # The same address may have said something else when another researcher read it.
                for quote in each.quotes:
                    text = page.text[quote.start : quote.end]
                    is_same = page.text_hash == first.page.text_hash
                    start = quote.start if is_same else first.page.text.find(text)
                    if start < 0:
                        ledger.reported.append(_read_otherwise(each, first, text))
                        continue
                    end = start + len(text)
                    known = next((at for at, it in enumerate(kept) if (it.start, it.end) == (start, end)), None)
                    if known is None:
                        kept.append(replace(quote, start=start, end=end))
                    else:
                        kept[known] = _picked_twice(kept[known], quote)
                continue
            lead = Lead(url=page.url, title=page.title or "", snippet="", published=page.published, aspect=1, rank=0)
            authority = (
                SourceAuthority.MEDIUM if is_file(page.url) else authority_of(page.url, page.work, page.standing)
            )
            source = ledger.add_page(lead, page, publisher_of(page.url), authority)
            if source is None:
                continue
            source.source = page.source or each.source
            if is_file(page.url):
                # Another machine's names of its corpora tell nothing here.
                saved_from = page.canonical_url and publisher_of(page.canonical_url)
                source.collection = saved_from or f"files of {each.researcher}"
            told = map(recorded_notice, each.fetched.notices)
            source.notices = tuple(dict.fromkeys((*source.notices, *told)))
            source.researcher, source.trace_id = each.researcher, each.trace_id
            ledger.add_pointers(find_pointers(page, ledger.question))
            merged[url] = (rihla, each, list(each.quotes))
        return list(merged.values())

    def _add_excerpts(
        self, ledger: Ledger, merged: Sequence[tuple[Rihla, QuotedPage, list[Quote]]], *, is_last: bool
    ) -> None:
        rarity = TermRarity()
        read = []
        for _, each, _ in merged:
            page = each.page
            found = self._known.setdefault(page.text_hash, PageTerms(page))
            rarity.add(found.own.values())
            read.append(found)
        aspects = ledger.aspects
        relevances = [
            Relevance(found, aspects, rarity=rarity, position=each.position, parameters=self.parameters)
            for found, (_, each, _) in zip(read, merged, strict=True)
        ]
        if self.embedder and relevances:
            # Rows of a database count for what their statement was written for, whatever they say.
            quoted = [
                [_window(each.page, quote) for quote in quotes] if each.page.query is None else []
                for _, each, quotes in merged
            ]
            relevances = read_closely(relevances, aspects, self.embedder, self.judge, quoted)
        for relevance, (rihla, each, quotes) in zip(relevances, merged, strict=True):
            for quote in quotes:
                asked = rihla.step.aspect
                for excerpt in self._excerpts(relevance, each.page, quote, aspects, asked, is_last=is_last):
                    ledger.add_excerpt(excerpt)
        ledger.take_together(self.parameters.extract.together)

    def _excerpts(
        self,
        relevance: Relevance,
        page: Page,
        quote: Quote,
        aspects: list[Aspect],
        asked: int,
        *,
        is_last: bool,
    ) -> list[Excerpt]:
        """Return a quote as an excerpt for each sub-question that it bears on, and for one at least.

        Where a researcher of this process split the question in the same way, these are among those that it picked
        the quote for: it had read what else there is.
        """
        if page.query is not None:
            return _rows(page, quote, aspects, asked)
        picked_for = [aspect for aspect in aspects if aspect.text in quote.measured]
        if picked_for and len(picked_for) == len(quote.measured):
            aspects = picked_for
        least = self.parameters.extract
        window = _window(page, quote)
        found = []
        for aspect in aspects:
            # With the heading that the quote has.
            excerpt = relevance.excerpt(window, aspect).from_place(quote.start, page.text)
            is_judged = relevance.is_judged(aspect, window)
            if aspect.text in quote.measured:
                # What the researcher read besides is not here, and the rarity of words in it changes the figure.
                excerpt.relevance, is_judged = quote.measured[aspect.text], self.judge is not None
            excerpt.stance = quote.stance
            excerpt.place = window.passages[0].place
            excerpt.answers = excerpt.relevance >= (least.judged if is_judged else least.relevant)
            found.append(excerpt)
        kept = [excerpt for excerpt in found if excerpt.relevance >= least.relevant_too]
        if not any(excerpt.answers for excerpt in kept):
            # Whoever read the page found that it answers what was asked. A model may see that where words don't.
            best = max(found, key=lambda excerpt: (excerpt.relevance, excerpt.aspect == asked, -excerpt.aspect))
            best.answers = quote.by_model or is_last
            kept = [best, *(excerpt for excerpt in kept if excerpt is not best)]
        return sorted(kept, key=lambda excerpt: excerpt.aspect)


def _picked_twice(one: Quote, other: Quote) -> Quote:
    """Return a quote that two rihlas picked, as the one which measured it higher has it: a part of a question alone
    tells better what answers it than the whole."""
    measured = {**one.measured, **other.measured}
    return replace(
        one,
        by_model=one.by_model or other.by_model,
        sought=tuple(dict.fromkeys((*one.sought, *other.sought))),
        measured={text: max(value, one.measured.get(text, 0.0)) for text, value in measured.items()},
    )


def _read_otherwise(each: QuotedPage, first: QuotedPage, text: str) -> ReportedGap:
    """Return the gap that tells a person what one researcher read at an address, and another did not."""
    said = plain_line(text, _SHOWN_CHARS)
    gap = Gap(
        topic=each.page.url,
        category=GapCategory.CONTRADICTORY_SOURCES,
        detail=f'It read "{said}" at {each.page.url}. Where {first.researcher} read this page, it did not say that.',
    )
    return ReportedGap(aspect=0, researcher=each.researcher, gap=gap)


def _window(page: Page, quote: Quote) -> Window:
    """Return the passages of a quote, without a heading before them; a part of a passage stands for itself."""
    inside = tuple(each for each in page.passages if quote.start <= each.start and each.end <= quote.end)
    if inside and inside[-1].end == quote.end:
        # What stands before the passages is blank, or no more than their heading.
        before = page.text[quote.start : inside[0].start].split()
        if not before or before == (inside[0].heading or "").split():
            return Window(inside, page.text[inside[0].start : quote.end])
    text = page.text[quote.start : quote.end]
    around = next((each for each in page.passages if each.start <= quote.start < each.end), None)
    if around is None:
        return Window((Passage(0, quote.start, quote.end, text),), text)
    return Window((Passage(around.number, quote.start, quote.end, text, around.heading, around.place),), text)


def _rows(page: Page, quote: Quote, aspects: Sequence[Aspect], asked: int) -> list[Excerpt]:
    """Return rows of a database as an excerpt for each sub-question that their statement was written for.

    They need not share a word with it.
    """
    sought = [set(terms(each)) for each in quote.sought]
    fitting = {
        max(aspects, key=lambda each: (coverage(words, set(terms(each.text)), {}), each.number == asked)).number
        for words in sought
    }
    text = page.text[quote.start : quote.end]
    return [
        Excerpt(
            number=0,
            locator=page.url,
            aspect=number,
            start=quote.start,
            end=quote.end,
            text=text,
            stance=quote.stance,
            sentences=sum(quote.start <= each.start < quote.end for each in page.passages) or 1,
            relevance=1.0,
        )
        for number in sorted(fitting or {asked})
    ]


def _add_reports(ledger: Ledger, rihlas: Sequence[Rihla], unserved: Sequence[Unserved]) -> None:
    """Add the gaps that the researchers reported, those of lost rihlas, and discoveries that nobody could follow."""
    for rihla in rihlas:
        if gap := _failure_of(rihla, rihlas):
            ledger.reported.append(ReportedGap(aspect=0, researcher=rihla.step.researcher, gap=gap))
        if rihla.step.origin not in _BESIDE:
            _add_gaps(ledger, rihla, rihlas, unserved)
    pointed = [each for each in unserved if each.gap and each.origin == "discovery"]
    for each in pointed[:MOST_POINTED_AT]:
        # A discovery is handed on in any case; it is a gap where little else is known.
        if each.gap and len(ledger.separate_texts(ledger.evidence_for(each.aspect))) < FEW_SOURCES:
            asker = next(rihla.step.researcher for rihla in rihlas if rihla.number == each.parent)
            ledger.reported.append(ReportedGap(aspect=each.aspect, researcher=asker, gap=each.gap))
    followed = {each.step.question for each in rihlas if each.step.origin == "discovery" and each.evidence}
    for rihla in rihlas:
        for event in rihla.result.discovery_events if rihla.result else ():
            known = {each.identifier or each.query for each in ledger.handed_on}
            is_new = event.query not in followed and (event.identifier or event.query) not in known
            if event.suggested_researcher and is_new:
                ledger.handed_on.append(event)
    del ledger.handed_on[MOST_HANDED_ON:]


def _failure_of(rihla: Rihla, rihlas: Sequence[Rihla]) -> Gap | None:
    """Return the gap of a rihla that was lost for good, or of whose quotes none could be checked; None for others."""
    if rihla.lost:
        if any(each.result and each.step.origin == "retry" and each.step.parent == rihla.number for each in rihlas):
            return None
        detail = f"It gave no result: {rihla.lost.rstrip('.')}."
    elif rihla.unchecked and not rihla.evidence:
        detail = f"What it quotes could not be checked, and does not count: {rihla.unchecked}."
    else:
        return None
    return Gap(
        topic=lost_researcher(rihla.step.researcher),
        category=GapCategory.BUDGET_EXHAUSTED if rihla.is_cut_off else GapCategory.ACCESS_DENIED,
        detail=detail,
        cause=None if rihla.is_cut_off else "source_failed",
    )


def _add_gaps(ledger: Ledger, rihla: Rihla, rihlas: Sequence[Rihla], unserved: Sequence[Unserved]) -> None:
    """Add the gaps that a rihla's researcher reported, each with what nobody of the team can do about it."""
    researcher = rihla.step.researcher
    told_of_nobody = {each.gap.topic: each.gap for each in unserved if each.gap and each.parent == rihla.number}
    for gap in rihla.result.gaps if rihla.result else ():
        if gap.category is GapCategory.CONTRADICTORY_SOURCES:
            continue  # the merged evidence tells which of them stand
        # Two gaps of one topic and category tell the same, unless they tell of two researchers.
        told = (researcher, gap.topic, gap.category)
        standing = [each for each in ledger.reported if not each.is_settled]
        if any(told == (each.researcher, each.gap.topic, each.gap.category) for each in standing):
            continue
        report = ReportedGap(
            aspect=aspect_of(gap, ledger, rihla.step.aspect),
            researcher=researcher,
            gap=told_of_nobody.get(gap.topic, gap),
            is_settled=any(is_settled_by(other, rihla, gap) for other in rihlas),
        )
        ledger.reported.append(report)


def lineage_of(rihlas: Sequence[Rihla]) -> list[Lineage]:
    """Return the rihlas as a result tells of them."""
    ids = {rihla.number: rihla.trace_id for rihla in rihlas}
    return [
        Lineage(
            trace_id=rihla.trace_id,
            researcher=rihla.step.researcher,
            question=rihla.step.question,
            origin=rihla.step.origin,
            parent=ids.get(rihla.step.parent) if rihla.step.parent else None,
            tokens_used=rihla.charged,
            outcome="lost" if rihla.result is None else "answered" if rihla.evidence else "nothing",
        )
        for rihla in sorted(rihlas, key=lambda rihla: rihla.number)
    ]
