"""Models of a program's files: program.json, and one file for each compiled stage."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator

Number = Annotated[float, Field(allow_inf_nan=False)]
Form: TypeAlias = Literal["model", "model_free"]


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, protected_namespaces=(), extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _replace_surrogates(cls, given: Any) -> Any:
        return _writable(given)


def _writable(value: Any) -> Any:
    """Return a value without halves of surrogate pairs, which a model may write and no file can hold."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_writable(each) for each in value]
    return {_writable(key): _writable(each) for key, each in value.items()} if isinstance(value, dict) else value


class StageRecord(_Record):
    """The outcome of compiling one stage, kept or not."""

    kept: bool
    """True where the compiled form is used."""
    form: Form = "model"
    """Form that is used; `model_free` where that did better than the model."""
    reason: str
    """Reason for which the compiled form is kept, or not, in a sentence."""
    optimizer: str
    seed: int
    signature: str
    """Fingerprint of the signature that the stage was compiled for."""
    file: str | None = Field(None, pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]*$")
    """Name of the stage's file beside program.json, without a folder; None where it was not kept."""
    sha256: str | None = Field(None, pattern=r"^[0-9a-f]{64}$")
    """SHA-256 hash of the file's bytes; None where it was not kept."""
    whole: bool = False
    """True where the stage was compiled, and scored, with all the others on whole questions. The dev examples are
    questions then, and `uncompiled` is the score of the program that was there."""
    dev_examples: int = Field(ge=0)
    uncompiled: Number
    """Mean score of the uncompiled stage on the dev examples, 0–1."""
    compiled: Number | None = None
    """Mean score of the compiled stage on the dev examples, 0–1; None where none was found."""
    difference: tuple[Number, Number] | None = None
    """95 % paired bootstrap interval of compiled − uncompiled."""
    model_free: Number | None = None
    """Mean score of the model-free form on the dev examples, 0–1; None where it has none."""
    valid_uncompiled: Number | None = None
    """Share of the examples in which the uncompiled stage's own output could be used, 0–1; None without a model."""
    valid_compiled: Number | None = None
    """Share of the examples in which the compiled stage's own output could be used, 0–1; None without a model."""
    calls: int = Field(0, ge=0)
    tokens: int = Field(0, ge=0)
    seconds: Number = Field(0.0, ge=0)

    @property
    def verdict(self) -> str:
        """Outcome in a few words: `kept`, `not kept`, `goes without the model`."""
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
    """Scores of the whole program on questions from end to end."""

    questions: int = Field(ge=0)
    split: str
    figures: dict[str, FigureRecord]


class CostRecord(_Record):
    """Cost of compiling, the reflection model's calls included."""

    calls: int = Field(0, ge=0)
    tokens: int = Field(0, ge=0)
    seconds: Number = Field(0.0, ge=0)
    dollars: Number | None = None
    """US dollars for the calls; None where no price is known."""


class ProgramInfo(_Record):
    """program.json: the compiled stages with their origin, their scores and their cost."""

    format: Literal[1] = 1
    model_id: str
    reflection_model: str | None = None
    dspy: str
    """Version of DSPy."""
    version: str
    """Version of Marchwarden."""
    date: str
    """Day of the compile, in ISO form."""
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
    """A stage's file: the instructions and demonstrations that replace the stage's own."""

    format: Literal[1] = 1
    stage: str
    signature: str
    """Fingerprint of the uncompiled signature that the stage was compiled for."""
    form: Form = "model"
    """Form that is used; `model_free` where the stage runs without the model, which does worse."""
    instructions: str
    demos: list[dict[str, JsonValue]] = []
    """Demonstrations, each with its input and output fields by name."""


class Note(_Record):
    """Something about a program that its user should know, and what to do about it."""

    text: str
    fix: str | None = None
    """Command or setting that removes the cause, in words; None where there is none."""

    @property
    def said(self) -> str:
        """Text of the note as a sentence."""
        return f"{self.text[:1].upper()}{self.text[1:]}."

    def __str__(self) -> str:
        return f"{self.said} To do: {self.fix}" if self.fix else self.said
