"""What tests share: a model of every library robot, kernels as users get them, a browser. A plugin of the workers."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator

import pytest
from hypothesis import settings

import polypod as pp
from polypod.errors import UnphysicalWarning
from support.browser import Browser
from support.short_operators import shorten
from support.states import EACH_KIND, mostly_long, papers_robots

shorten()
# Compiling is slow on a busy machine and says nothing about the code; the same examples every run.
settings.register_profile("polypod", max_examples=40, deadline=None, derandomize=True, database=None, print_blob=True)
settings.load_profile("polypod")


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


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """One browser for all pages: it takes longer to start than most pages to open."""
    with Browser(tmp_path_factory.mktemp("browser"), size=(900, 560)) as opened:
        yield opened
