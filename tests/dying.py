"""A build that ends by itself when it changes its lake for the nth time, as by a kill, with all of its processes."""

import contextlib
import io
import multiprocessing
import os
import signal
import sys
from pathlib import Path
from typing import Any
from unittest import mock

from pipeline import cli
from tests.touched import changed


def die(moment: int, told: Path, lake: Path, arguments: tuple[str, ...]) -> None:
    """Build; end at a change, by its number from 1, or with 0 at none. Write the number of changes into `told`."""
    os.setsid()
    changes = 0

    def heard(event: str, args: tuple[Any, ...]) -> None:
        nonlocal changes
        if any(path.is_relative_to(lake) for path in changed(event, args)):
            changes += 1
            if changes == moment:
                os.killpg(0, signal.SIGKILL)

    sys.addaudithook(heard)
    with (
        mock.patch.object(sys, "argv", ["homelake", "build", *arguments, "-o", str(lake)]),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.suppress(SystemExit),
    ):
        cli.main()
    told.write_text(str(changes), encoding="utf-8")


def build_and_die(moment: int, told: Path, lake: Path, *arguments: str) -> int:
    """Have it done in another process; return how that ended, as `Process.exitcode`."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.dying", "pipeline.batch", "pipeline.lake"])
    process = context.Process(target=die, args=(moment, told, lake, arguments))
    process.start()
    process.join(120)
    return process.exitcode if process.exitcode is not None else 1
