"""Programs: compiled stages and fitted numbers for one model, in a folder that is found by the model's id.

A program is plain JSON; nothing in it is imported, unpickled or run. records.py has the models of its files,
loading.py finds it and refuses damaged and stale parts, saving.py writes it.
"""

from __future__ import annotations

from marchwarden.programs.calibration import Calibration, EstimateCurve, log_odds
from marchwarden.programs.listing import Listed, all_programs, find_program
from marchwarden.programs.loading import NONE, Program, load_program, own_programs, parameters_signature, places
from marchwarden.programs.names import family, model_slug
from marchwarden.programs.reading import CALIBRATION, PARAMETERS, PROGRAM, compile_again
from marchwarden.programs.records import (
    CompiledStage,
    CostRecord,
    FigureRecord,
    Note,
    ProgramInfo,
    StageRecord,
    WholeRecord,
)
from marchwarden.programs.saving import save_program

__all__ = [
    "CALIBRATION",
    "NONE",
    "PARAMETERS",
    "PROGRAM",
    "Calibration",
    "CompiledStage",
    "CostRecord",
    "EstimateCurve",
    "FigureRecord",
    "Listed",
    "Note",
    "Program",
    "ProgramInfo",
    "StageRecord",
    "WholeRecord",
    "all_programs",
    "compile_again",
    "family",
    "find_program",
    "load_program",
    "log_odds",
    "model_slug",
    "own_programs",
    "parameters_signature",
    "places",
    "save_program",
]
