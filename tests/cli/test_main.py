"""Help, version, exit codes, and where errors end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from marchwarden import __version__
from tests.cli.conftest import Run
from tests.cli.running import ROOT, marchwarden, python

HEAVY = "dspy mcp anthropic litellm trafilatura datasets tantivy numpy pydantic asyncio httpx"
COMMANDS = ("ask", "chat", "history", "show", "replay", "doctor", "serve")


def test_help_names_commands_and_exit_codes(run: Run) -> None:
    ran = run("--help")
    assert ran.code == 0
    assert all(f" {command} " in ran.out for command in COMMANDS)
    assert "0 an answer · 1 a failure · 2 wrong usage · 3 nothing found · 130 interrupted" in ran.out


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_examples(run: Run, command: str) -> None:
    ran = run(command, "--help")
    assert ran.code == 0
    assert f"marchwarden {command}" in ran.out.split("Examples:")[1]


@pytest.mark.parametrize("command", [*COMMANDS, "compile", "eval", "export", "index", "investigate", "sources"])
def test_help_is_cut_nowhere_on_80_columns(run: Run, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    """What can't be broken, such as a long address, would end in an ellipsis."""
    widths = []
    for columns in ("80", "300"):
        monkeypatch.setenv("COLUMNS", columns)
        widths.append(run(command, "--help").out.count("…"))
    assert widths[0] == widths[1]


@pytest.mark.skipif(os.name != "posix", reason="the folder that one is in can't be removed")
def test_a_folder_that_was_removed_is_told(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    # `ask` needs the folder only where it can't fork, as where a test runner has threads.
    ran = run("investigate", "What is Casgevy?")
    assert (ran.code, "the folder that you are in was removed" in ran.said) == (1, True), ran.said


def test_version(run: Run) -> None:
    assert run("--version").out == f"marchwarden {__version__}\n"


def test_without_a_command_there_is_help_and_a_usage_code(run: Run) -> None:
    ran = run()
    assert ran.code == 2
    assert "Commands" in ran.out + ran.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("ask q --zzz", "No such option: --zzz"),
        ("ask q --depth foo", "--depth: 'foo' is not one of 'shallow', 'balanced', 'deep'."),
        ("ask q --budget", "Option '--budget' requires an argument."),
        ("ask  ", 'QUESTION: it is missing. For example: marchwarden ask "When did the Berlin Wall fall?"'),
        ("ask Which crops grow well", 'put the question in quotes: marchwarden ask "Which crops grow well"'),
        ("investigate Which crops", 'put the question in quotes: marchwarden investigate "Which crops"'),
        ("traces prune", "Missing option '--older-than'."),
    ],
)
def test_wrong_usage_is_a_line_that_can_be_copied(
    run: Run, monkeypatch: pytest.MonkeyPatch, arguments: str, said: str
) -> None:
    monkeypatch.setenv("COLUMNS", "45")
    ran = run(*arguments.split())
    command = " ".join(arguments.split()[: 2 if arguments.startswith("traces") else 1])
    assert (ran.code, ran.out, ran.err) == (2, "", f"Error: {said}\nHelp: marchwarden {command} --help\n")


@pytest.mark.parametrize(
    "arguments",
    [
        "ask q -o LONG.md",
        "ask --file questions.txt --output LONG.jsonl",
        "investigate q -o LONG.md",
        "show -o LONG.md",
        "export -o LONG.bib",
        "export --bundle LONG.zip",
        "export --html LONG.html",
        "eval --inspect-log LONG.json",
        "eval --inspect-log LONG",
        "eval --out LONG",
        "eval init questions.txt --out LONG.jsonl",
        "compile --model extractive --out LONG",
    ],
)
def test_a_place_that_can_t_be_written_is_told_before_anything_is_done(
    run: Run, arguments: str, tmp_path: Path
) -> None:
    Path("questions.txt").write_text("q\n")
    ran = run(*arguments.replace("LONG", "x" * 300).split())
    assert (ran.code, ran.out) == (2, "")
    assert "File name too long" in ran.err
    assert not (tmp_path / "traces").exists()


@pytest.mark.parametrize("arguments", [("What is BM25?",), ("What", "is", "BM25?")])
def test_a_question_without_a_command_is_told_how_to_ask(run: Run, arguments: tuple[str, ...]) -> None:
    ran = run(*arguments)
    said = 'Error: to ask a question: marchwarden ask "What is BM25?"\nHelp: marchwarden --help\n'
    assert (ran.code, ran.err) == (2, said)


def test_a_path_that_no_command_looked_at_is_named_with_the_reason(run: Run) -> None:
    ran = run("index", "x" * 300)
    assert (ran.code, ran.err.splitlines()[0]) == (1, f"Error: {'x' * 300}: File name too long")


def test_our_errors_are_a_message_and_a_hint(run: Run) -> None:
    ran = run("replay")
    assert ran.code == 1
    assert ran.out == ""
    message, hint = ran.err.rstrip().split("\n", 1)
    assert message.startswith("Error: there are no traces in")
    assert "marchwarden ask" in hint


def test_an_unexpected_error_is_a_line_without_a_stack(a_trace: str) -> None:
    into_what_can_only_be_read = _INTO.format(target="/dev/null", how="os.O_RDONLY")
    ran = python(into_what_can_only_be_read)
    assert ran.returncode == 1
    assert b"Traceback" not in ran.stderr
    assert ran.stderr.startswith(b"Error: unexpected ")
    assert b"Set MARCHWARDEN_DEBUG=1 for details." in ran.stderr
    assert b"Traceback" in python(into_what_can_only_be_read, MARCHWARDEN_DEBUG="1").stderr


def test_a_full_disk_is_told_in_plain_words(a_trace: str) -> None:
    ran = python(_INTO.format(target="/dev/full", how="os.O_WRONLY"))
    assert ran.returncode == 1
    assert ran.stderr.startswith(b"Error: the output could not be written: No space left on device\n")


@pytest.mark.skipif(sys.platform == "win32", reason="/dev/full is of Linux")
@pytest.mark.parametrize("stderr", ["/dev/full", "nobody"])
@pytest.mark.parametrize(("arguments", "code"), [(["config"], 0), (["replay", "zzz"], 1)])
def test_a_note_that_nobody_gets_changes_no_exit_code(stderr: str, arguments: list[str], code: int) -> None:
    if stderr == "nobody":
        reader, into = os.pipe()
        os.close(reader)
    else:
        into = os.open(stderr, os.O_WRONLY)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "marchwarden", *arguments]
    ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=into, env=environment, timeout=60)
    os.close(into)
    assert ran.returncode == code


@pytest.mark.skipif(sys.platform == "win32", reason="there Ctrl-C is sent in another way")
def test_ctrl_c_ends_a_command_that_is_still_being_imported_without_a_traceback() -> None:
    command = [sys.executable, "-X", "importtime", "-m", "marchwarden", "history"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(ROOT)}) as process:
        assert process.stderr
        said = ""
        while said.split("|")[-1].strip() != "typer":
            said = process.stderr.readline().decode()
            assert said, "it ended"
        process.send_signal(signal.SIGINT)
        left = process.stderr.read().decode()
    assert process.returncode == 130
    assert [line for line in left.splitlines() if not line.startswith("import time:")] == []
    assert "marchwarden.cli\n" not in left


@pytest.mark.skipif(sys.platform != "linux", reason="it looks for processes in /proc")
@pytest.mark.parametrize(("arguments", "starting"), [(["serve"], "forkserver"), (["index", "notes"], "spawn_main")])
def test_ctrl_c_does_not_reach_the_processes_that_are_being_started(
    arguments: list[str], starting: str, tmp_path: Path
) -> None:
    """A terminal sends it to each of them, while they import what they need: the command alone heeds it."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/n.md").write_text("The Halden Bridge was built in 1931.")
    with subprocess.Popen(
        [sys.executable, "-m", "marchwarden", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    ) as process:
        while not (started := [each for each in children_of(process.pid) if starting in command_of(each)]):
            assert process.poll() is None
            time.sleep(0.005)
        time.sleep(0.1)  # until Python itself has started there; its imports take longer
        for each in started:
            os.kill(each, signal.SIGINT)
        said = process.communicate(timeout=60)[1].decode()
    assert "Traceback" not in said
    assert process.returncode == 0, said


def children_of(pid: int) -> list[int]:
    return [int(each) for task in Path(f"/proc/{pid}/task").glob("*/children") for each in task.read_text().split()]


def command_of(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8")


_INTO = """
import os, sys
os.dup2(os.open("{target}", {how}), 1)
sys.argv = ["marchwarden", "replay", "--json"]
from marchwarden.cli import main
main()
"""


@pytest.mark.parametrize(
    ("closed", "arguments"),
    [("0 1 2", "replay"), ("0 1 2", "serve"), ("0", "ask -"), ("1", "history --json"), ("2", "serve")],
)
def test_a_stream_that_the_caller_has_closed_is_an_empty_one(closed: str, arguments: str, a_trace: str) -> None:
    shut = " ".join(f"{each}>&-" if each != "0" else "0<&-" for each in closed.split())
    command = ["sh", "-c", f'exec "$0" -m marchwarden {arguments} {shut}', sys.executable]
    ran = subprocess.run(
        command,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        timeout=60,
    )
    assert ran.returncode == (2 if arguments == "ask -" else 0), ran.stderr  # an empty question is wrong usage
    assert b"unexpected" not in ran.stderr


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["replay", "3f2b"], ["history"], ["history", "--json"], ["ask", "--help"], ["--version"]],
)
def test_the_quick_commands_import_nothing_heavy(arguments: list[str], a_trace: str) -> None:
    script = f"""
import sys
sys.argv = ["marchwarden"] + sys.argv[1:]
from marchwarden.cli import main
try:
    main()
except SystemExit as ended:
    code = ended.code or 0
print("HEAVY", code, [name for name in {HEAVY.split()!r} if name in sys.modules])
"""
    ran = python(script, *arguments)
    assert ran.stdout.decode().splitlines()[-1] == "HEAVY 0 []", ran.stderr.decode()


def test_completion_imports_nothing_heavy_and_completes_trace_ids(a_trace: str) -> None:
    script = f"""
import atexit, sys
sys.argv = ["marchwarden"]
atexit.register(lambda: print("HEAVY", [name for name in {(HEAVY + " rich").split()!r} if name in sys.modules]))
from marchwarden.cli import main
main()
"""
    ran = python(script, _MARCHWARDEN_COMPLETE="complete_bash", COMP_WORDS="marchwarden replay 3f", COMP_CWORD="2")
    assert ran.stdout.decode().split("\n")[:2] == [a_trace, "HEAVY []"]


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_a_terminal_without_unicode_gets_what_it_can_show(encoding: str, a_trace: str) -> None:
    for arguments in (["--help"], ["replay"]):
        ran = marchwarden(*arguments, PYTHONIOENCODING=encoding)
        assert ran.returncode == 0, ran.stderr
        assert ran.stdout.decode(encoding)


def test_json_is_utf_8_whatever_the_terminal_speaks(a_trace: str) -> None:
    (listed,) = json.loads(marchwarden("history", "--json", PYTHONIOENCODING="ascii").stdout.decode("utf-8"))
    assert listed["question"] == "Was wächst in 日本?"


def test_no_color_means_no_escapes(a_trace: str) -> None:
    coloured = marchwarden("replay", FORCE_COLOR="1", TERM="xterm-256color").stdout
    plain = marchwarden("replay", FORCE_COLOR="1", TERM="xterm-256color", NO_COLOR="1").stdout
    assert b"\x1b[3" in coloured
    assert b"\x1b[3" not in plain.replace(b"\x1b[3m", b"")


def test_a_reader_that_goes_away_early_is_no_error(a_trace: str) -> None:
    script = """
import os, sys
read, write = os.pipe()
os.close(read)
os.dup2(write, 1)
sys.argv = ["marchwarden", "replay"]
from marchwarden.cli import main
main()
"""
    ran = python(script)
    assert b"Traceback" not in ran.stderr


def test_logs_go_to_stderr_where_debugging_is_on_and_nowhere_else() -> None:
    script = """
import logging, sys
from marchwarden import logs
logs.configure(debug=True)
logging.getLogger("marchwarden.x").debug("loud")
logs.configure(debug=False)
logging.getLogger("marchwarden.x").error("silent")
"""
    ran = python(script)
    assert ran.stdout == b""
    assert b"DEBUG marchwarden.x: loud" in ran.stderr
    assert b"silent" not in ran.stderr
