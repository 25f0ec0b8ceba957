"""Scholarly works: their identifiers in addresses, the hosts that carry them, and the question whether two are one.

Pure. Records of works are read in reading/; the ledger counts independent ones.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from urllib.parse import unquote, urlsplit

from marchwarden.observations import Work

DOI_RESOLVER = "https://doi.org/"
ARXIV_ABSTRACT = "https://arxiv.org/abs/"
# Start of the DOIs that arXiv registers for its papers.
_ARXIV_DOI = "10.48550/arxiv."

# The DOI handbook's form; the suffix ends where an address has its query or fragment.
DOI = re.compile(r"(?<![\w.])10\.\d{4,9}/[^\s\"<>?#&]+")
_DOI_ENDINGS = re.compile(r"(?:/(?:full(?:[.-]?text)?|abstract|pdf|epdf|html|meta|v\d+)|\.pdf)+$", re.IGNORECASE)
# bioRxiv and medRxiv add the version to the DOI in their addresses.
_PREPRINT_VERSION = re.compile(r"^(10\.(?:1101|64898)/[\d.]+)v\d+(?:\..*)?$")
_ARXIV_ID = r"(?P<id>\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{7})(?:v(?P<version>\d{1,3}))?"
_ARXIV_PATH = re.compile(rf"//(?:\w+\.)?arxiv\.org/(?:abs|pdf|html|format)/{_ARXIV_ID}")
_ARXIV_NAME = re.compile(rf"^(?:arxiv:)?{_ARXIV_ID}$", re.IGNORECASE)
_PMID_PATH = re.compile(
    r"//(?:pubmed\.ncbi\.nlm\.nih\.gov|(?:www\.)?ncbi\.nlm\.nih\.gov/pubmed|(?:www\.)?europepmc\.org/(?:article|abstract)/med)"
    r"/(\d{1,9})\b",
    re.IGNORECASE,
)
_PMC_PATH = re.compile(r"//[\w.]*(?:nih\.gov|europepmc\.org|ebi\.ac\.uk)/[\w/]*?/(PMC\d{1,9})\b", re.IGNORECASE)
_NATURE_PATH = re.compile(r"//(?:www\.)?nature\.com/articles/((?:s\d{5}-|nature|n[a-z]{2,8}\.?)[\w.-]*\d)\b")

# Hosts that publish the works of others without peer review.
_REPOSITORIES = frozenset({
    "arxiv.org", "biorxiv.org", "medrxiv.org", "chemrxiv.org", "ssrn.com", "osf.io", "zenodo.org", "preprints.org",
    "researchsquare.com", "psyarxiv.com", "eartharxiv.org", "essopenarchive.org", "hal.science", "techrxiv.org",
    "authorea.com", "figshare.com", "researchgate.net",
})  # fmt: skip
# Hosts that publish what others have reviewed, each for many journals or proceedings.
_JOURNALS = frozenset({
    "nature.com", "science.org", "sciencemag.org", "sciencedirect.com", "cell.com", "thelancet.com", "springer.com",
    "springeropen.com", "biomedcentral.com", "wiley.com", "plos.org", "pnas.org", "nejm.org", "bmj.com",
    "jamanetwork.com", "oup.com", "cambridge.org", "tandfonline.com", "sagepub.com", "acs.org", "rsc.org", "iop.org",
    "aps.org", "aip.org", "ieee.org", "acm.org", "mdpi.com", "frontiersin.org", "elifesciences.org", "peerj.com",
    "hindawi.com", "royalsocietypublishing.org", "annualreviews.org", "karger.com", "lww.com", "thieme-connect.com",
    "ahajournals.org", "ascopubs.org", "aacrjournals.org", "physiology.org", "asm.org", "embopress.org",
    "rupress.org", "degruyter.com", "jci.org", "copernicus.org", "ametsoc.org", "siam.org", "ams.org",
    "aclanthology.org", "mlr.press", "neurips.cc", "jmlr.org", "usenix.org", "informs.org", "acpjournals.org",
    "dovepress.com", "cochranelibrary.com",
})  # fmt: skip
# Hosts that list or keep works of both kinds.
_INDEXES = frozenset({
    "doi.org", "ncbi.nlm.nih.gov", "pubmed.gov", "europepmc.org", "ebi.ac.uk", "semanticscholar.org", "openalex.org",
    "crossref.org", "jstor.org", "core.ac.uk", "openreview.net", "scielo.org", "scielo.br", "dblp.org",
    "projecteuclid.org",
})  # fmt: skip


@dataclass(frozen=True)
class ArxivPaper:
    id: str
    version: int | None
    """Version that the address names; None where it names the latest."""

    @property
    def address(self) -> str:
        return f"{ARXIV_ABSTRACT}{self.id}"

    def latest_version(self, body: bytes) -> int | None:
        """Return the highest version that the paper's page names; None where it names none."""
        text = body.decode("utf-8", "replace")
        named = re.findall(rf"{re.escape(self.id)}v(\d{{1,3}})\b|\[v(\d{{1,3}})\]", text)
        return max((int(one or other) for one, other in named), default=None)


# Identifiers


def doi_of(url: str) -> str | None:
    """Return the DOI in an address or a field, `10.1000/xyz`; None where it has none."""
    found = DOI.search(unquote(url))
    return _DOI_ENDINGS.sub("", found[0]).rstrip("/.,;)") if found else None


def is_doi_address(url: str) -> bool:
    """Return whether an address is a DOI's own, which is meant to lead elsewhere."""
    return urlsplit(url).hostname in ("doi.org", "dx.doi.org")


def arxiv_paper_of(url: str) -> ArxivPaper | None:
    """Return the paper that an address of arXiv names."""
    found = _ARXIV_PATH.search(url)
    return ArxivPaper(found["id"], int(found["version"]) if found["version"] else None) if found else None


def identified(work: Work) -> Work:
    """Return the work with its identifiers in one spelling; a DOI of arXiv's becomes the paper's number."""
    doi = (doi_of(work.doi) or "").lower() if work.doi else ""
    doi = _PREPRINT_VERSION.sub(r"\1", doi)
    arxiv, version = work.arxiv, work.version
    if doi.startswith(_ARXIV_DOI):
        arxiv, doi = arxiv or doi.removeprefix(_ARXIV_DOI), ""
    if arxiv:
        named = _ARXIV_NAME.match(arxiv.strip())
        arxiv = named["id"] if named else None
        if named and named["version"]:
            version = f"v{named['version']}"
    pmid = re.sub(r"\D", "", work.pmid or "")
    return replace(work, doi=doi or None, arxiv=arxiv or None, pmid=pmid or None, version=version)


def work_of_address(url: str) -> Work | None:
    """Return the identifiers that an address names, on a host that carries works; None where it names none."""
    if paper := arxiv_paper_of(url):
        return Work(arxiv=paper.id, version=f"v{paper.version}" if paper.version else None)
    if found := _PMID_PATH.search(url):
        return Work(pmid=found[1])
    if found := _NATURE_PATH.search(url):
        return Work(doi=f"10.1038/{found[1].lower()}")
    if not carries_works(urlsplit(url).hostname or ""):
        return None
    work = identified(Work(doi=doi_of(url)))
    return work if work.doi or work.arxiv else None


def record_of_address(url: str) -> Work | None:
    """Return what an address says of the work there: identifiers, and the review that its host asks for."""
    work = work_of_address(url)
    if work and work.arxiv:
        work = replace(work, venue="arXiv", year=year_of_arxiv(work.arxiv))
    return work and replace(work, is_peer_reviewed=reviewed_by_host(url))


def year_of_arxiv(identifier: str) -> int:
    """Return the year in the number of a paper of arXiv: 2023 for `2301.01234`, 1999 for `hep-th/9901001`."""
    two_digits = int(identifier.rpartition("/")[2][:2])
    return two_digits + (1900 if two_digits > 90 else 2000)


def reviewed_by_host(url: str) -> bool | None:
    """Return whether the host of an address publishes what was peer-reviewed; None where it says nothing of it."""
    host = urlsplit(url).hostname or ""
    return True if is_journal(host) else False if is_repository(host) else None


def source_of_address(url: str) -> str | None:
    """Return the source that a citation of this address names: `arxiv`; None for that of the search."""
    return "arxiv" if arxiv_paper_of(url) else None


def name_in_address(url: str) -> str | None:
    """Return the name of the work at an address, for people: `arXiv:2301.01234`, `doi:10.1000/xyz`, `pmid:123`,
    `PMC123`; None where the address names none."""
    if found := _PMC_PATH.search(url):
        return found[1].upper()
    work = work_of_address(url)
    return next(iter(names_of(work)), None) if work else None


def addresses_of(work: Work) -> tuple[str, ...]:
    """Return the addresses under which a work may be read, those of open texts first; none without identifiers."""
    return tuple(
        address
        for name, address in (
            (work.arxiv, f"{ARXIV_ABSTRACT}{work.arxiv}"),
            (work.pmid, f"https://pubmed.ncbi.nlm.nih.gov/{work.pmid}/"),
            (work.pmid, f"https://europepmc.org/article/MED/{work.pmid}"),
            (work.doi, f"{DOI_RESOLVER}{work.doi}"),
        )
        if name
    )


def names_of(work: Work) -> tuple[str, ...]:
    """Return the identifiers of a work, each with its scheme: `arXiv:2301.01234`, `doi:10.1000/xyz`, `pmid:123`."""
    own = (
        f"arXiv:{work.arxiv}" if work.arxiv else None,
        f"doi:{work.doi}" if work.doi else None,
        f"pmid:{work.pmid}" if work.pmid else None,
    )
    return (*filter(None, own), *work.same_as)


# Hosts


def carries_works(host: str) -> bool:
    """Return whether a host publishes the works of many authors, each of whom speaks for himself."""
    return is_repository(host) or is_journal(host) or _is_of(host, _INDEXES)


def is_repository(host: str) -> bool:
    """Return whether a host publishes works without peer review: preprints, deposits."""
    return _is_of(host, _REPOSITORIES)


def is_journal(host: str) -> bool:
    """Return whether a host publishes peer-reviewed journals or proceedings."""
    return _is_of(host, _JOURNALS)


def _is_of(host: str, organisations: frozenset[str]) -> bool:
    labels = host.lower().rstrip(".").split(".")
    return any(".".join(labels[at:]) in organisations for at in range(len(labels)))


# Two works, or one


def is_same_work(one: Work, other: Work) -> bool:
    """Return whether two records are of one work: they share an identifier."""
    return not set(names_of(one)).isdisjoint(names_of(other))


def has_same_authors(one: Work, other: Work) -> bool:
    """Return whether the same people wrote two works, all of them. False where either names nobody."""
    here, there = ({person for author in work.authors if (person := _person(author))} for work in (one, other))
    return bool(here) and here == there


def has_same_title(one: tuple[str | None, Work], other: tuple[str | None, Work]) -> bool:
    """Return whether two works have one title and one first author, as a preprint and its published form have."""
    (here, first), (there, second) = one, other
    if not here or not there or not first.authors or not second.authors:
        return False
    words = re.findall(r"\w+", here.casefold())
    # Short titles, such as "Editorial", are those of many works. A guess.
    return (
        len(words) > 3
        and words == re.findall(r"\w+", there.casefold())
        and _person(first.authors[0]) == _person(second.authors[0])
    )


_INITIALS = re.compile(r"^(?:[A-Z]\.?-?){1,3}$")
# What stands behind a family name and belongs to it.
NAME_SUFFIX = re.compile(r"(?:jr|sr)\.?|II|III|IV", re.IGNORECASE)
# Particles of family names. Other words in lower case ("for", "of", "and") stand in names of groups.
_PARTICLES = re.compile(
    r"a[flv]?|d[aeiu]?|d[ae]l(?:la)?|das|degli|dei|de[nr]|do?s?|e|el|i?bn|b[ei]n|l[aeo]s?|op|st?|t|te[nr]?|van|vo[mn]|y"
    r"|zu[mr]?"
)
# Words of names that are no person's.
_GROUP = re.compile(
    r"\d|&|\w\.[a-z]{2,}$|^the\b|^associated press$|"
    r"\b(?:consortium|groups?|organi[sz]ations?|collaboration|teams?|committee|society|network|university|institut\w*|"
    r"foundation|associations?|agency|ministry|departments?|council|investigators|authors|editors?|editorial|staff|"
    r"newsroom|news|times|media|magazine|clinic|hospital|school|college|cent(?:er|re)s?|museum|library|"
    r"laborator(?:y|ies)|services?|bureau|commission|union|federation|company|corp(?:oration)?|inc|ltd|llc|gmbh|plc|"
    r"extension|authority|administration|alliance|academy|contributors|maintainers|developers|redaktion)\b",
    re.IGNORECASE,
)
# Scripts in which the family name stands first: Chinese, Japanese and Korean.
_FAMILY_FIRST = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")


def is_group(author: str) -> bool:
    """Return whether a name is that of an organisation, a team or the like."""
    words = author.partition(",")[0].split()
    joined = any(word.islower() and not _PARTICLES.fullmatch(word.strip("'’")) for word in words[1:-1])
    return _GROUP.search(author) is not None or (joined and not words[0].islower())


def parts_of_name(author: str) -> tuple[str, str] | None:
    """Return family and given name, for `Smith, John`, `John A. Smith` and `Smith JA`; None for a group's name.

    "Jr." and the like belong to the family name.
    """
    if is_group(author):
        return None
    family, comma, given = (part.strip() for part in author.partition(","))
    if comma and family and given:
        given, _, suffix = (part.strip() for part in given.partition(","))
        if NAME_SUFFIX.fullmatch(suffix):
            return f"{family} {suffix}", given
        return family, ", ".join(filter(None, (given, suffix)))
    words = author.split()
    suffixes = [words.pop()] if len(words) > 2 and NAME_SUFFIX.fullmatch(words[-1]) else []
    if len(words) < 2:
        return None
    if _FAMILY_FIRST.match(words[0]):
        return words[0], " ".join(words[1:])
    # Of a name all in capitals they are two letters at most: "JANE DOE".
    is_initials = _INITIALS.match(words[-1]) and not _INITIALS.match(words[0])
    if is_initials and not (author.isupper() and len(words[-1]) > 2):
        return " ".join(words[:-1]), words[-1]
    # Particles belong to the family name: `van der Meulen`.
    at = next((at for at, word in enumerate(words[1:-1], start=1) if word.islower()), len(words) - 1)
    if at > 1 and words[at] in ("y", "i"):  # joins two family names: `Ortega y Gasset`
        at -= 1
    return " ".join(words[at:] + suffixes), " ".join(words[:at])


def _person(author: str) -> str:
    """Return family name and first initial, in lower case; for a group its name."""
    family, given = parts_of_name(author) or (author.strip(), "")
    return f"{family} {given[:1]}".strip().casefold()
