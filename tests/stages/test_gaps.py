"""Why an aspect stayed open, as recorded facts decide it."""

from __future__ import annotations

import pytest

from marchwarden.contract import GapCategory
from marchwarden.ledger import Ledger
from marchwarden.observations import Failure, FailureKind, SearchOutcome
from marchwarden.stages.gaps import GapsGiven, find_decided_gaps, model_free


@pytest.mark.parametrize(
    ("kind", "category"),
    [
        (FailureKind.BAD_KEY, GapCategory.ACCESS_DENIED),
        (FailureKind.SERVICE_DOWN, GapCategory.ACCESS_DENIED),
        (FailureKind.NETWORK, GapCategory.ACCESS_DENIED),
        (FailureKind.TIMEOUT, GapCategory.ACCESS_DENIED),
        (FailureKind.BAD_REQUEST, GapCategory.SOURCE_NOT_FOUND),
    ],
)
def test_a_search_service_that_gives_no_answer_is_no_proof_that_there_is_no_source(
    kind: FailureKind, category: GapCategory
) -> None:
    ledger = Ledger(question="What grows in Utah?")
    ledger.set_aspects(["What grows in Utah"])
    ledger.add_search(SearchOutcome(query="utah", provider="p", failure=Failure(kind, "It failed so.")), 1)
    given = GapsGiven(ledger, [], frozenset())
    (gap,) = find_decided_gaps(given) + model_free(given)
    assert gap.category is category
    assert "It failed so." in gap.detail
