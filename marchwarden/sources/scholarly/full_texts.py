"""Full texts of open articles of PubMed Central, as Europe PMC gives them: JATS, read under PMC's own address.

PMC's page of an article has the same ids of sections, so that a person can follow the address of a passage.
"""

from __future__ import annotations

import re

from marchwarden.http.shared_rates import RateRule
from marchwarden.sources.api_client import Api
from marchwarden.sources.api_source import ApiReader

EUROPEPMC_API = "https://www.ebi.ac.uk/europepmc/webservices/rest"
_ARTICLE = re.compile(r"//(?:pmc|www)\.ncbi\.nlm\.nih\.gov/(?:pmc/)?articles/(PMC\d{1,9})\b", re.IGNORECASE)


class FullTexts(ApiReader):
    # The same service as the search, and so one rule for both.
    api = Api("Europe PMC", RateRule("europepmc", 0.2))
    profile = "jats"

    def request_for(self, url: str) -> str | None:
        article = _ARTICLE.search(url)
        return f"{EUROPEPMC_API}/{article[1].upper()}/fullTextXML" if article else None


def address_of_full_text(pmcid: str) -> str:
    """Return the address under which an article of PubMed Central is cited."""
    return f"https://pmc.ncbi.nlm.nih.gov/articles/{pmcid.upper()}/"
