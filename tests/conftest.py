"""What a run of tests shares: one folder of compiled kernels, code compiled unoptimised, little collecting of
garbage."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import tempfile

import pytest

# One process a core: threads of linear algebra would wait for each other. Workers inherit it, and read it at import.
os.environ.setdefault("OMP_NUM_THREADS", "1")


def pytest_configure(config: pytest.Config) -> None:
    """One cache for this run: the workers of pytest-xdist start later and inherit the variable.

    Most tests call a kernel once or twice: code that is compiled in a tenth of the time is enough for them, and
    those of the kernels themselves ask for the code that users get (``as_shipped``). Collecting garbage after
    every few hundred objects takes a fifth of the time that symbols take.
    """
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        # shells start what runs in the background so; tests that interrupt commands would wait for ever
        signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.setdefault("POLYPOD_OPTIMISE", "0")
    gc.set_threshold(300_000, 20, 100)
    if "POLYPOD_CACHE" not in os.environ:
        folder = os.environ["POLYPOD_CACHE"] = tempfile.mkdtemp(prefix="polypod-tests-")
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
    config.add_cleanup(gc.freeze)  # else pytest and the interpreter go through all that is left, for seconds, to end
    if hasattr(config, "workerinput") or not config.getoption("numprocesses", 0):
        # polypod is imported by those who run tests; who only hands them out starts them two seconds sooner
        config.addinivalue_line("filterwarnings", "ignore::polypod.errors.UnphysicalWarning")
        config.pluginmanager.import_plugin("support.shared_models")
