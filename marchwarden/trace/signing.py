"""Signatures of finished traces, made by `ssh-keygen -Y sign` with a key that the user has anyway, offline.

OpenSSH signs, and verifies (trace/standalone_verifier.py): a library would be one more thing to trust.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from marchwarden.files import write_whole
from marchwarden.trace.standalone_verifier import NAMESPACE, signature_of

# Seconds that ssh-keygen may take. It takes about 10 ms, but a key on a token waits for a touch. A guess.
_TIMEOUT_S = 30.0


class SigningError(Exception):
    """The reason that a trace could not be signed, as a clause."""


def sign(trace: Path, key: Path) -> None:
    """Sign a trace, into the file beside it, with a private key or with the public key of one in the agent.

    Raises SigningError.
    """
    program = shutil.which("ssh-keygen")
    if program is None:
        raise SigningError("ssh-keygen is not installed")
    command = [program, "-Y", "sign", "-q", "-n", NAMESPACE, "-f", str(key)]
    try:
        with trace.open("rb") as body:
            # A session of its own has no terminal to ask for a passphrase on: such a key belongs into the agent.
            ran = subprocess.run(
                command, stdin=body, capture_output=True, timeout=_TIMEOUT_S, start_new_session=True, check=False
            )
        if ran.returncode:
            said = " ".join(ran.stderr.decode("utf-8", "replace").split())
            raise SigningError(said or f"ssh-keygen ended with {ran.returncode}")
        write_whole(signature_of(trace), ran.stdout, private=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise SigningError(str(error)) from error
