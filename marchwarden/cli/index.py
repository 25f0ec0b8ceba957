"""`marchwarden index`: the user's own files, made into a corpus that `ask --source corpus` searches."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from marchwarden.cli.configuration.completion import complete_corpus

if TYPE_CHECKING:
    from marchwarden.corpus.corpora import Corpus
    from marchwarden.corpus.indexing import IndexReport, Wanted

# Exit codes; 130 is the shell's of a process that SIGINT ended.
NOTHING_FOUND, INTERRUPTED = 3, 130
# Processes that read by default, at most. A guess.
_MOST_JOBS = 4

EPILOGUE = """Examples:

marchwarden index ~/notes ~/papers/report.pdf
    then: marchwarden ask "When was the queen replaced?" --source corpus
marchwarden index ~/garden --name garden
    then: marchwarden ask "Which herbs grow in shade?" --source web,corpus:garden
marchwarden index --name garden
    looks again at the folders that it knows: reads what is new or changed, forgets what is gone
marchwarden index ~/notes --watch
    stays, and indexes again whenever a file changes
marchwarden index ~/notes --name notes --publish
    other machines with the same MARCHWARDEN_STORE then answer from corpus:notes
marchwarden index ~/archive --name archive --engine lance --vectors
    for millions of documents, searched by words and by meaning
marchwarden index --list
marchwarden index --remove garden

Exit codes: 0 indexed, also where some files can't be read · 1 a failure · 2 wrong usage · 3 nothing to index ·
130 interrupted; the same command goes on."""


def command(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="PATH",
            help="Files and folders: HTML, Markdown, reStructuredText, Org, LaTeX, text, PDF, DOCX, ODT, ODS, ODP, "
            "PPTX, XLSX, CSV, EPUB, notebooks, source code, JSON, and JSONL with one document a line. "
            "Default: those that are already in the corpus.",
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(metavar="NAME", autocompletion=complete_corpus, help="Name of the corpus. Default: default."),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Number of reader processes. Default: one for each core, at most 4."),
    ] = None,
    list_: Annotated[bool, typer.Option("--list", metavar="", help="List the corpora.")] = False,
    remove: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", autocompletion=complete_corpus, help="Forget this corpus. Its files are not touched."
        ),
    ] = None,
    engine: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="What keeps a new corpus's index: tantivy, or lance (of the extra `lance`) for millions of "
            "documents. Default: tantivy.",
        ),
    ] = None,
    vectors: Annotated[
        bool,
        typer.Option(
            "--vectors",
            metavar="",
            help="Search a new corpus by meaning too, with the model of the extra `semantic`; indexing then takes "
            "2 ms of a core more for each word.",
        ),
    ] = False,
    watch: Annotated[
        bool,
        typer.Option(
            "--watch", metavar="", help="Keep running, and index again whenever a file changes. Ctrl-C ends it."
        ),
    ] = False,
    publish: Annotated[
        bool,
        typer.Option(
            "--publish",
            metavar="",
            help="Then publish index and files in the object store of MARCHWARDEN_STORE, for other machines; with "
            "--watch, again after each change.",
        ),
    ] = False,
    json: Annotated[bool, typer.Option("--json", metavar="", help="Print the outcome as JSON.")] = False,
) -> None:
    """Index your own files, so that they can be searched and cited.

    A file is read again only if it has changed. Hidden files, hidden folders and links are skipped, and so are files
    that can't be read. The output names what was skipped, and why.
    """
    if list_ or remove is not None:
        given = {
            "PATH": paths,
            "--name": name,
            "--jobs": jobs,
            "--engine": engine,
            "--vectors": vectors,
            "--watch": watch,
            "--publish": publish,
            "--remove": list_ and remove,
        }
        if other := next((option for option, value in given.items() if value), None):
            raise typer.BadParameter(f"{other} can't go with {'--list' if list_ else '--remove'}")
        if list_:
            _list(json=json)
        else:
            from marchwarden.cli.views import console
            from marchwarden.corpus.corpora import remove_corpus

            remove_corpus(str(remove))
            if json:
                console.json({"removed": remove})
            else:
                console.done(f"The corpus {remove} is removed from the index. Its files were not touched.")
                _tell_published(str(remove))
        return
    if watch and json:
        raise typer.BadParameter("--json can't go with --watch")
    from marchwarden.corpus.indexing import Wanted

    store = _store() if publish else None
    jobs = jobs or min(_MOST_JOBS, os.cpu_count() or 1)
    report = _index(_checked(paths or []), name, jobs, json=json, wanted=Wanted(engine, vectors))
    # An older snapshot would go on answering from files that are gone.
    if store and (report.documents or _is_published(report.name, store)):
        _publish(report.name, store)
    if watch:
        _watch(report, jobs, store)
    elif not report.documents:
        raise typer.Exit(NOTHING_FOUND)


def _store() -> str:
    """Return the address of the object store. Raises ConfigurationError where there is none, or it is wrong, and
    StorageError where it can't be used: that is known before anything is read."""
    from marchwarden.errors import ConfigurationError
    from marchwarden.settings import load_settings
    from marchwarden.sharing.object_store import COMMAND_S, FORMS, ObjectStore

    store = load_settings().store
    if store is None:
        raise ConfigurationError(
            "--publish needs an object store: MARCHWARDEN_STORE is not set",
            hint=f"Set it to {FORMS}.",
        )
    ObjectStore(store, request_s=COMMAND_S).check_writable()
    return store


def _is_published(name: str, store: str) -> bool:
    from marchwarden.corpus.snapshots import published_names

    return name in published_names(store)


def _tell_published(name: str) -> None:
    """Say that a forgotten corpus is in the object store still, where it can be looked for."""
    from marchwarden.cli.views import console
    from marchwarden.errors import MarchwardenError
    from marchwarden.settings import load_settings

    try:
        store = load_settings().store
        if store and _is_published(name, store):
            console.notice(
                "It is still published in the object store, and is fetched from there when it is searched.",
                f"To withdraw it, delete corpora/{name} in the store.",
            )
    except MarchwardenError as error:
        console.notice(f"It may still be published: {error}", error.hint)


def _publish(name: str, store: str) -> None:
    from marchwarden.cli.views import console
    from marchwarden.cli.views.safe_text import count
    from marchwarden.corpus.corpora import corpus_at
    from marchwarden.corpus.snapshots import publish_snapshot

    done = publish_snapshot(corpus_at(name).folder, store)
    new = f"{count(done.created, 'object')} sent, with the index" if done.created else "all there already"
    console.done(f"Published {count(done.files, 'file')}, {new}: {done.name}")


def _checked(paths: list[Path]) -> list[Path]:
    """Return the paths, `~` expanded. Raises a usage error for one that isn't there, or whose name can't be cited."""
    found = [path.expanduser() if str(path).startswith("~") else path for path in paths]
    for path in found:
        if not path.exists():
            raise typer.BadParameter(f"{path}: there is no such file or folder")
        if not str(path.resolve()).isprintable():
            raise typer.BadParameter(f"{path}: its name has unprintable characters, so it can't be cited")
    return found


def _watch(report: IndexReport, jobs: int, store: str | None) -> None:
    """Index again whenever a file below the roots changes, and publish in the store, until Ctrl-C. Raises typer.Exit.

    What could not be published is published after the next change.
    """
    from marchwarden.cli.views import console
    from marchwarden.corpus.watching import changes_below
    from marchwarden.errors import MarchwardenError

    waits = False  # something that is not published yet

    roots = [Path(root) for root in report.roots if Path(root).exists()]
    console.done(f"Watching {', '.join(map(str, roots)) or 'nothing'}. Ctrl-C ends it.")
    try:
        for _ in changes_below(roots, told=console.notice):
            report = _index([], report.name, jobs, json=False, before=report)
            waits = waits or bool(report.added or report.changed or report.removed)
            if store and waits:
                try:
                    _publish(report.name, store)
                    waits = False
                except MarchwardenError as error:
                    console.notice(f"Not published: {error}", error.hint)
    except KeyboardInterrupt:
        console.notice("Ended. Files that were read stay indexed.")
        raise typer.Exit(INTERRUPTED) from None


def _index(
    paths: list[Path],
    name: str | None,
    jobs: int,
    *,
    json: bool,
    wanted: Wanted | None = None,
    before: IndexReport | None = None,
) -> IndexReport:
    """Index, and show the outcome, unless it is that of `before`."""
    from marchwarden.cli.views import console
    from marchwarden.cli.views.safe_text import count
    from marchwarden.corpus.corpora import corpus_at, open_corpus
    from marchwarden.corpus.indexing import index_files
    from marchwarden.settings import DEFAULT_CORPUS

    corpus = corpus_at(name or DEFAULT_CORPUS)
    if not paths and not corpus.catalogue.is_file():
        # Raises the error that says how to make a corpus.
        open_corpus(corpus.name)
    try:
        with console.counting(None) as bar:
            done = 0

            def tell(files: int, of: int, documents: int) -> None:
                nonlocal done
                bar.of(of)
                bar.advance(lambda: count(documents, "document"), by=files - done)
                done = files

            report = index_files(corpus, paths, jobs=jobs, wanted=wanted, tell=tell)
    except KeyboardInterrupt:
        console.notice("Interrupted. Files that were read stay indexed.", "To continue, run the same command again.")
        raise typer.Exit(INTERRUPTED) from None
    if not before or report.added or report.changed or report.removed or report.failed != before.failed:
        _deliver(report, json=json)
    return report


def _deliver(report: IndexReport, *, json: bool) -> None:
    from marchwarden.cli.views import console

    if json:
        console.json(asdict(report))
    else:
        console.indexed(report)
    for root in report.missing:
        console.notice(f"{root} was not found; its indexed files stay in the corpus.")


def _list(*, json: bool) -> None:
    from marchwarden.cli.views import console
    from marchwarden.corpus.corpora import all_corpora
    from marchwarden.errors import ConfigurationError

    listed: list[dict[str, Any]] = []
    usable = []
    for corpus in all_corpora():
        try:
            usable.append(_plain(corpus))
            listed.append({**usable[-1], "problem": None})
        except ConfigurationError as error:
            listed.append({"name": corpus.name, "folder": str(corpus.folder), "problem": str(error)})
            if not json:
                console.notice(f"{corpus.name} can't be used: {error}", error.hint)
    if json:
        console.json(listed)
        return
    if usable:
        console.corpora(usable)
    elif not listed:
        console.done("There is no corpus yet. To make one: marchwarden index FOLDER")
    _list_published()


def _list_published() -> None:
    """Tell the corpora that the object store has, where one is set."""
    from marchwarden.cli.views import console
    from marchwarden.corpus.snapshots import published_names
    from marchwarden.errors import MarchwardenError
    from marchwarden.settings import load_settings
    from marchwarden.sharing.object_store import server_url

    store = load_settings().store
    if store is None:
        return
    try:
        names = published_names(server_url(store))
    except MarchwardenError as error:
        console.notice(f"Corpora that are published in the object store can't be listed: {error}", error.hint)
    else:
        console.notice(f"Published in the object store, and usable here too: {', '.join(names) or 'none'}.")


def _plain(corpus: Corpus) -> dict[str, Any]:
    from marchwarden.corpus.corpora import size_of, summary_of

    return {"name": corpus.name, **asdict(summary_of(corpus)), "bytes": size_of(corpus), "folder": str(corpus.folder)}
