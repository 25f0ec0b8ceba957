"""An agentic researcher whose every claim can be checked: ask a question, get an answer with its evidence.

    from marchwarden import research_sync
    print(research_sync("What are ideal crops for a garden in Utah?").answer)

Importing this package does nothing else; what is named below is imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from marchwarden.agent.program import Researcher
    from marchwarden.api import ResearchResult, index, investigate, research, research_sync
    from marchwarden.contract import (
        Citation,
        ConfidenceFactors,
        Constraints,
        CostMetadata,
        Depth,
        DiscoveryEvent,
        DiscoveryType,
        Gap,
        GapCategory,
        OpenQuestion,
        Priority,
        Recency,
        ResearchRequest,
        SourceAuthority,
    )
    from marchwarden.corpus.indexing import IndexReport
    from marchwarden.errors import ConfigurationError, InvalidRequest, MarchwardenError, ResearchFailed, StorageError
    from marchwarden.settings import Settings, load_settings

__version__ = "0.1.0"

__all__ = [
    "Citation",
    "ConfidenceFactors",
    "ConfigurationError",
    "Constraints",
    "CostMetadata",
    "Depth",
    "DiscoveryEvent",
    "DiscoveryType",
    "Gap",
    "GapCategory",
    "IndexReport",
    "InvalidRequest",
    "MarchwardenError",
    "OpenQuestion",
    "Priority",
    "Recency",
    "ResearchFailed",
    "ResearchRequest",
    "ResearchResult",
    "Researcher",
    "Settings",
    "SourceAuthority",
    "StorageError",
    "index",
    "investigate",
    "load_settings",
    "research",
    "research_sync",
]

_MODULES = {
    "agent.program": {"Researcher"},
    "api": {"ResearchResult", "index", "investigate", "research", "research_sync"},
    "corpus.indexing": {"IndexReport"},
    "errors": {"ConfigurationError", "InvalidRequest", "MarchwardenError", "ResearchFailed", "StorageError"},
    "settings": {"Settings", "load_settings"},
}


def __getattr__(name: str) -> Any:
    """PEP 562: the public names, from the modules that hold them."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name == "Researcher":
        from marchwarden.errors import require_package

        require_package("dspy", "Researcher")
    module = next((module for module, names in _MODULES.items() if name in names), "contract")
    return getattr(import_module(f"{__name__}.{module}"), name)


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
