"""Programs for tests, as `marchwarden compile` writes them."""

from __future__ import annotations

import hashlib
import json
from importlib import metadata
from pathlib import Path
from typing import Any

from marchwarden.programs import (
    PARAMETERS,
    PROGRAM,
    Calibration,
    CompiledStage,
    CostRecord,
    ProgramInfo,
    StageRecord,
    model_slug,
    own_programs,
    parameters_signature,
    save_program,
)
from marchwarden.programs.parameters import Parameters
from marchwarden.settings import Settings, load_settings
from marchwarden.stages.registry import STAGES

MODEL = "openai/some-model-2"
WORDS = "Plan the next turn in few words."
DEMO = {"question": "What grows in Utah?", "done": False, "queries": ["crops utah"]}


def compiled(stage: str = "plan", **changes: Any) -> CompiledStage:
    """`signature` given: DSPy is not imported."""
    given = {"stage": stage, "instructions": WORDS, "demos": [DEMO]} | changes
    return CompiledStage.model_validate({"signature": given.get("signature") or STAGES[stage].fingerprint} | given)


def record(signature: str, **changes: Any) -> StageRecord:
    given: dict[str, Any] = {
        "kept": True,
        "reason": "better on dev",
        "optimizer": "bootstrap",
        "seed": 0,
        "signature": signature,
        "dev_examples": 40,
        "uncompiled": 0.5,
        "compiled": 0.7,
        "difference": (0.1, 0.3),
    }
    return StageRecord.model_validate(given | changes)


def info(stages: dict[str, StageRecord], **changes: Any) -> ProgramInfo:
    given = {
        "model_id": MODEL,
        "dspy": metadata.version("dspy"),
        "version": "0.4.0",
        "date": "2026-11-28",
        "seed": 0,
        "labels": "abc",
        "pages": "def",
        "reads_by": "words",
        "stages": stages,
        "cost": CostRecord(calls=10, tokens=5000, seconds=60.0),
    }
    return ProgramInfo.model_validate(given | changes)


def a_program(
    folder: Path | None = None,
    *stages: CompiledStage,
    parameters: Parameters | None = None,
    model_id: str = MODEL,
    **changes: Any,
) -> Path:
    """A program of these stages (one of plan where none is given), in the user's own folder where none is given."""
    folder = folder or own_programs() / model_slug(model_id)
    kept = stages or (() if parameters else (compiled(),))
    records = {each.stage: record(each.signature) for each in kept}
    if parameters:
        records[PARAMETERS] = record(parameters_signature())
    save_program(folder, info(records, model_id=model_id, **changes), kept, parameters)
    return folder


def a_calibration(folder: Path, *, model_id: str = MODEL, stages: str | None = None, slope: float = 1.0) -> Path:
    fitted = Calibration(
        format=1,
        model_id=model_id,
        slope=slope,
        intercept=0.0,
        questions=70,
        fitted_on="shipped dev",
        labels="abc",
        stages=stages,
        date="2026-11-28",
    )
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "calibration.json").write_text(fitted.model_dump_json())
    return folder


def stage_file(folder: Path, stage: str = "plan") -> Path:
    (found,) = folder.glob(f"{stage}.*.json")
    return found


def rewrite(folder: Path, **changes: Any) -> None:
    """Change program.json by hand."""
    path = folder / PROGRAM
    path.write_text(json.dumps(json.loads(path.read_bytes()) | changes))


def rewrite_plan(folder: Path, **changes: Any) -> None:
    """Change the file of plan by hand, and the hash that program.json has of it."""
    path = stage_file(folder, "plan")
    path.write_text(json.dumps(json.loads(path.read_bytes()) | changes))
    records = json.loads((folder / PROGRAM).read_bytes())["stages"]
    records["plan"]["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    rewrite(folder, stages=records)


def settings(model: str = MODEL, **changes: Any) -> Settings:
    return load_settings(model=model, **changes)
