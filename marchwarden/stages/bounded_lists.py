"""Bounded lists for a model to fill: a small model that is asked for an open list runs on until it is cut off."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from pydantic import BeforeValidator, Field, RootModel, TypeAdapter, ValidationError

Item = TypeVar("Item")


def keep_valid(item: type[Item], most: int) -> Callable[[Any], Any]:
    """Return a validator that keeps the first `most` items of the right type. A broken item costs only itself."""
    adapter: TypeAdapter[Item] = TypeAdapter(item)

    def keep(value: Any) -> Any:
        if not isinstance(value, list):
            return value
        kept = []
        for each in value:
            try:
                kept.append(adapter.validate_python(each))
            except ValidationError:
                continue
        return kept[:most]

    return keep


# DSPy drops constraints on an output field. A RootModel around the list carries them into the schema and the check.


class UpTo3Texts(RootModel[Annotated[list[str], BeforeValidator(keep_valid(str, 3)), Field(max_length=3)]]):
    pass


class UpTo4Texts(RootModel[Annotated[list[str], BeforeValidator(keep_valid(str, 4)), Field(max_length=4)]]):
    pass


class UpTo6Numbers(RootModel[Annotated[list[int], BeforeValidator(keep_valid(int, 6)), Field(max_length=6)]]):
    pass
