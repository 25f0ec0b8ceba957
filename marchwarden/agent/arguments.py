"""The request that a Python call's arguments make."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from marchwarden.contract import Constraints, Depth, ResearchRequest
from marchwarden.errors import InvalidRequest


def request_of(
    question: str, context: str | None, depth: Depth | str, constraints: Constraints | dict[str, Any] | None
) -> ResearchRequest:
    """Return the request of a call's arguments. Raises InvalidRequest."""
    given = constraints.model_dump(exclude_unset=True) if isinstance(constraints, Constraints) else constraints
    try:
        return ResearchRequest.model_validate(
            {"question": question, "context": context, "depth": depth, "constraints": given}
        )
    except ValidationError as error:
        raise InvalidRequest.of(error) from None
