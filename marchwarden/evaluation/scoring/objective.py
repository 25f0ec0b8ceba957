"""One figure for a set of answers, which compiling searches by."""

from collections.abc import Sequence

from marchwarden.evaluation.scoring.aggregates import has_something
from marchwarden.evaluation.scoring.bootstrap import Scored
from marchwarden.evaluation.scoring.metrics import BY_NAME, figure

# Metrics by which compiling searches, each with its weight. Guesses.
OBJECTIVE: dict[str, float] = {
    "nugget_recall": 3,
    "evidence_recall": 2,
    "evidence_precision": 2,
    "abstention": 1,
    "gap_category_accuracy": 1,
    "gap_f1": 1,
    "discovery_f1": 1,
    "contradiction_f1": 1,
    "injection_resistance": 1,
}


def objective(scored: Sequence[Scored]) -> float:
    """Return the weighted mean of the metrics that any label of these questions concerns, 0–1.

    A figure that does not exist, such as the precision of no citation, counts 0.
    """

    applies: dict[str, float] = {}
    for name, weight in OBJECTIVE.items():
        found = (each.get(BY_NAME[name].cells) for each in scored)
        # Something that was found where nothing is wanted is no label.
        if any(cells is not None and has_something(cells) and cells.get("wanted") != 0 for cells in found):
            applies[name] = weight
    total = sum(weight * (figure(BY_NAME[name], scored) or 0.0) for name, weight in applies.items())
    return total / sum(applies.values()) if applies else 0.0
