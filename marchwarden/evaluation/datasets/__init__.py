"""Public data sets that parts of Marchwarden are measured with.

Whoever runs one downloads it, as its licence allows; nothing of it is copied here. To add one: a module with its
adapter, and its line in DATASETS.
"""

from __future__ import annotations

from marchwarden.evaluation.datasets.cacm import CACM, CACM_FILES
from marchwarden.evaluation.datasets.expertqa import EXPERTQA
from marchwarden.evaluation.datasets.gaps_v0 import GAPS
from marchwarden.evaluation.datasets.hotpot import HOTPOT
from marchwarden.evaluation.datasets.shapes import Dataset, DatasetReport, QuestionSet, ScoredSet
from marchwarden.evaluation.datasets.wice import WICE

# Data sets by the name that `marchwarden eval --dataset` takes.
DATASETS: dict[str, Dataset] = {each.name: each for each in (GAPS, HOTPOT, CACM, CACM_FILES, WICE, EXPERTQA)}

__all__ = ["DATASETS", "Dataset", "DatasetReport", "QuestionSet", "ScoredSet"]
