"""Logistic regression, for confidence and for relevance; scikit-learn fits it.

scikit-learn comes with the extras `evaluate` and `compile`, and is imported when something is fitted.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from marchwarden.errors import EvaluationError, how_to_install

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_ROUNDS = 200
"""Newton steps at most; about ten are taken."""
_FLAT = 1e-9
"""Largest gradient of the mean loss at which a fit is done: changes what is rounded away, the sixth decimal."""


def check_installed(extra: str = "evaluate") -> None:
    """Raises EvaluationError, which names the extra to install, where scikit-learn is missing."""
    if find_spec("sklearn") is None:
        raise EvaluationError("fitting needs scikit-learn", hint=how_to_install(extra))


def fit_logistic(
    features: NDArray[np.float64],
    targets: NDArray[np.float64],
    *,
    penalty: float = 0.0,
) -> tuple[NDArray[np.float64], float]:
    """Coefficients and intercept of the chance that each row of `features` is positive.

    `targets` are chances themselves, 0–1. `penalty` is what half the squares of
    the coefficients cost beside the cross entropy, the intercept aside. Raises EvaluationError where scikit-learn is
    missing.
    """
    check_installed()
    import numpy as np
    from sklearn.linear_model import LogisticRegression

    # Classes are yes or no there: a row with the chance t is a yes of weight t and a no of weight 1 - t.
    rows = np.concatenate([features, features])
    labels = np.concatenate([np.ones_like(targets), np.zeros_like(targets)])
    shares = np.concatenate([targets, 1 - targets])
    said = shares > 0
    model = LogisticRegression(
        C=1 / penalty if penalty else np.inf, solver="newton-cholesky", tol=_FLAT, max_iter=_ROUNDS
    )
    model.fit(rows[said], labels[said], shares[said])
    return model.coef_[0], float(model.intercept_[0])
