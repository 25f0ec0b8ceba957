"""What a program's files say, as data: program.json, and one file for each compiled stage."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator

Number = Annotated[float, Field(allow_inf_nan=False)]
Form: TypeAlias = Literal["model", "model_free"]


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, protected_namespaces=(), extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _can_be_written(cls, given: Any) -> Any:
        return _writable(given)


def _writable(value: Any) -> Any:
    """A value in which halves of surrogate pairs, which a model may write and no file can hold, are replaced."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_writable(each) for each in value]
    return {_writable(key): _writable(each) for key, each in value.items()} if isinstance(value, dict) else value


class StageRecord(_Record):
    """What compiling one stage came to, kept or not."""

    kept: bool
    """Whether the compiled form is used."""
    form: Form = "model"
    """`model_free`: what is used is the model-free form, which did better than the model."""
    reason: str
    """Why it is kept, or not, in words."""
    optimizer: str
    seed: int
    signature: str
    """Fingerprint of the signature that it was compiled for."""
    file: str | None = Field(None, pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]*$")
    """The stage's file beside program.json, a plain name; None where it was not kept."""
    sha256: str | None = Field(None, pattern=r"^[0-9a-f]{64}$")
    """Of that file's bytes."""
    dev_examples: int = Field(ge=0)
    uncompiled: Number
    """Mean score on the dev examples, 0–1."""
    compiled: Number | None = None
    """The same of what is kept, or was found."""
    difference: tuple[Number, Number] | None = None
    """95 % paired bootstrap interval of compiled − uncompiled."""
    model_free: Number | None = None
    """The same of the model-free form, which costs nothing."""
    valid_uncompiled: Number | None = None
    """Share of the examples in which the model's own output could be used; None without a model."""
    valid_compiled: Number | None = None
    calls: int = Field(0, ge=0)
    tokens: int = Field(0, ge=0)
    seconds: Number = Field(0.0, ge=0)

    @property
    def verdict(self) -> str:
        """What became of it, in a few words."""
        if not self.kept:
            return "not kept"
        return "kept" if self.form == "model" else "goes without the model"


class FigureRecord(_Record):
    """One metric over whole questions, uncompiled and compiled, with the 95 % interval of the difference."""

    uncompiled: Number | None = None
    compiled: Number | None = None
    low: Number | None = None
    high: Number | None = None


class WholeRecord(_Record):
    """What the whole program was worth on questions from end to end."""

    questions: int = Field(ge=0)
    split: str
    figures: dict[str, FigureRecord]


class CostRecord(_Record):
    """What compiling took, the reflection model's calls included."""

    calls: int = Field(0, ge=0)
    tokens: int = Field(0, ge=0)
    seconds: Number = Field(0.0, ge=0)
    dollars: Number | None = None
    """None where no price is known."""


class ProgramInfo(_Record):
    """program.json: what was compiled, from what, by what, and what it is worth."""

    format: Literal[1] = 1
    model_id: str
    reflection_model: str | None = None
    dspy: str
    """Version of DSPy."""
    version: str
    """Of Marchwarden."""
    date: str
    """The day, ISO."""
    seed: int
    labels: str
    """Hash of the labelled questions."""
    pages: str
    """Hash of the frozen web's pages."""
    reads_by: Literal["words", "meaning"]
    stages: dict[str, StageRecord]
    whole: WholeRecord | None = None
    cost: CostRecord


class CompiledStage(_Record):
    """A stage's file: the words and the demonstrations that take the place of the stage's own."""

    format: Literal[1] = 1
    stage: str
    signature: str
    """Fingerprint of the uncompiled signature that it was compiled for."""
    form: Form = "model"
    """`model_free`: the stage goes without the model, which does worse."""
    instructions: str
    demos: list[dict[str, JsonValue]] = []
    """Input and output fields by name."""


class Note(_Record):
    """Something about a program that its user should know, and what to do about it."""

    text: str
    fix: str | None = None
    """A command or a setting, in words."""

    @property
    def said(self) -> str:
        """The text as a sentence."""
        return f"{self.text[:1].upper()}{self.text[1:]}."

    def __str__(self) -> str:
        return f"{self.said} To do: {self.fix}" if self.fix else self.said
