"""What all tests share: one folder of compiled kernels, a model of every library robot, a quiet opt-out warning."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import tempfile
import warnings
from collections.abc import Callable, Iterator

import pytest
from hypothesis import settings

# One process a core: threads of linear algebra would wait for each other. Workers inherit it, and read it at import.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import polypod as pp
from polypod.errors import UnphysicalWarning
from short_operators import shorten
from states import EACH_KIND, mostly_long, papers_robots

shorten()
# Compiling is slow on a busy machine and says nothing about the code; the same examples every run.
settings.register_profile("polypod", max_examples=40, deadline=None, derandomize=True, database=None, print_blob=True)
settings.load_profile("polypod")


def pytest_configure(config: pytest.Config) -> None:
    """One cache for this run: the workers of pytest-xdist start later and inherit the variable.

    Most tests call a kernel once or twice: code that is compiled in a quarter of the time is enough for them, and
    those of the kernels themselves ask for the code that users get (:func:`as_shipped`). Collecting garbage after
    every few hundred objects takes a fifth of the time that symbols take.
    """
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        # shells start what runs in the background so; tests that interrupt commands would wait for ever
        signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.setdefault("POLYPOD_OPTIMISE", "0")
    gc.set_threshold(300_000, 20, 100)
    config.addinivalue_line("filterwarnings", "ignore::polypod.errors.UnphysicalWarning")
    if "POLYPOD_CACHE" not in os.environ:
        folder = os.environ["POLYPOD_CACHE"] = tempfile.mkdtemp(prefix="polypod-tests-")
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))


@pytest.fixture
def as_shipped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels compiled from here on are those that users get."""
    monkeypatch.setenv("POLYPOD_OPTIMISE", "1")


@pytest.fixture(scope="session")
def model_of() -> Iterator[Callable[[str], pp.Model]]:
    """The model of a library robot by name; one of each in a session."""
    models: dict[str, pp.Model] = {}

    def model(name: str) -> pp.Model:
        if name not in models:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UnphysicalWarning)
                models[name] = pp.Model(pp.load(name))
        return models[name]

    yield model
    models.clear()


@pytest.fixture(scope="session", params=mostly_long(papers_robots(), EACH_KIND))
def model(request: pytest.FixtureRequest, model_of: Callable[[str], pp.Model]) -> pp.Model:
    """The model of every paper's robot in turn; one of each kind of leg, the others in long runs."""
    return model_of(request.param)
