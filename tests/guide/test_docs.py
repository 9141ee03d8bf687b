"""The guide: its code runs, its generated pages cover everything there is, and it builds without a warning."""

from __future__ import annotations

import ast
import contextlib
import inspect
import io
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polypod as pp
from polypod.cli import COMMANDS, load_command
from polypod.description import LegData, Robot
from polypod.file_kinds import check
from polypod.motion import MotionFile, PathKind, loads_motion
from polypod.results import study, verdict

ROOT = Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT / "docs"))

import generated  # noqa: E402

from support.refusals import refused  # noqa: E402
from support.states import mostly_long  # noqa: E402

PAGES = sorted(page for page in (ROOT / "docs").rglob("*.md") if page.stem != "interop")  # that has a test of its own
WITH_CODE = [page for page in PAGES if "```python" in page.read_text(encoding="utf-8")]
# The others take seconds: what they call has tests of its own.
SLOW = ("flexible", "flexures", "gallery", "identification", "limits", "maps")
QUICK = [page for page in WITH_CODE if page.stem not in SLOW]


def _blocks(page: Path) -> list[str]:
    """The Python blocks of a page; those of folded answers are indented."""
    found = re.finditer(r"^( *)```python\n(.*?)^\1```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    return [textwrap.dedent(block[2]) for block in found]


@pytest.mark.parametrize("page", mostly_long(WITH_CODE, QUICK, lambda page: page.stem))
def test_code_of_the_page_runs(page, tmp_path, monkeypatch):
    """All Python blocks of a page, in order, in one namespace and an empty folder; their asserts are the checks."""
    monkeypatch.chdir(tmp_path)
    blocks = _blocks(page)
    known = dict(LegData.registry)
    namespace: dict[str, object] = {"__name__": "guide"}
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            for block in blocks:
                exec(compile(block, str(page.name), "exec", dont_inherit=True), namespace)
    finally:
        LegData.registry.clear()
        LegData.registry.update(known)
    if page.stem in ("first-steps", "leg-kinds"):
        assert len(blocks) == 2


def _resolved(node: ast.expr, known: dict[str, Any]) -> Any:
    """What an expression such as ``pp.motion.Pose`` or ``model.inverse_dynamics`` names; None if it is not known."""
    if isinstance(node, ast.Name):
        return known.get(node.id)
    if isinstance(node, ast.Attribute):
        owner = _resolved(node.value, known)
        if not (inspect.ismodule(owner) or isinstance(owner, pp.Model)):
            return None
        found = inspect.getattr_static(owner, node.attr, None)
        assert found is not None or hasattr(owner, node.attr), ast.unparse(node)
        return getattr(owner, node.attr) if found is None or callable(found) else found
    return None


@pytest.mark.parametrize("page", WITH_CODE, ids=lambda page: page.stem)
def test_code_of_the_page_names_what_there_is(page, model_of):
    """Every function, class and keyword of polypod that a page's blocks name exists: quick, of the slow pages too."""
    known: dict[str, Any] = {"pp": pp, "model": model_of("hexapod")}
    checked = 0
    for block in _blocks(page):
        for node in ast.walk(ast.parse(block)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("polypod"):
                exec(ast.unparse(node), known)
                checked += 1
            if isinstance(node, ast.Attribute):
                checked += _resolved(node, known) is not None
            if isinstance(node, ast.Call):
                called = _resolved(node.func, known)
                taken = inspect.signature(called).parameters if callable(called) else {}
                if taken and not any(one.kind is one.VAR_KEYWORD for one in taken.values()):
                    unknown = {word.arg for word in node.keywords} - {None, *taken}
                    assert not unknown, f"{ast.unparse(node.func)}: {unknown}"
    assert checked


def calls_of(page: Path) -> list[str]:
    """Every line of a shell block that calls polypod, without that word."""
    blocks = re.findall(r"```sh\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    return [line for block in blocks for line in re.findall(r"^polypod (.+)$", block, re.MULTILINE)]


CALLS = {page: calls_of(page) for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]}


@pytest.mark.parametrize("page", [page for page, calls in CALLS.items() if calls], ids=lambda page: page.stem)
def test_commands_of_the_page_are_those_of_today(page):
    """Each call is read by that command's own options, which do not run it; one with a wrong option is refused."""
    for line in CALLS[page]:
        name, *words = shlex.split(line, comments=True)
        load_command(name).make_context(name, words)


def test_a_call_with_a_wrong_option_is_refused():
    assert sum(map(len, CALLS.values())) > 40
    with refused(Exception, "--fricton"):
        load_command("run").make_context("run", ["kim-ryu", "--fricton"])


NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[-+]\d+)?(?![\w.])")


@pytest.mark.parametrize(
    "name", mostly_long(generated.PAGES, [page for page in generated.PAGES if page != "errata.md"])
)
def test_generated_pages_are_what_is_generated(name):
    """The text exactly. Computed numbers to what they print, four digits, or any two that are rounding (below 1e-9)."""
    written, fresh = (ROOT / "docs" / name).read_text(encoding="utf-8"), generated.text_of(name)
    advice = f"docs/{name} is out of date; run: python docs/generated.py"
    assert NUMBER.sub("#", written) == NUMBER.sub("#", fresh), advice
    for old, new in zip(NUMBER.findall(written), NUMBER.findall(fresh), strict=True):
        rounding = abs(float(old)) < 1e-9 and abs(float(new)) < 1e-9
        assert old == new or rounding or float(old) == pytest.approx(float(new), rel=2e-3), f"{advice} ({old}, {new})"


@pytest.mark.parametrize("name", generated.SOURCES)
def test_generated_sources_are_what_is_generated(name):
    written = (ROOT / name).read_text(encoding="utf-8")
    assert written == generated.text_of(name), f"{name} is out of date; run: python docs/generated.py"


def test_links_of_the_guide_lead_somewhere():
    """On disk as on the site: every page and picture that a page names is there, and every heading."""
    for page in PAGES:
        for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
            path, _, heading = target.partition("#")
            if "://" in target:
                continue
            linked = page.parent / path if path else page
            assert linked.is_file(), f"{page.name}: {target}"
            titles = re.findall(r"^#+ (.+)$", linked.read_text(encoding="utf-8"), re.MULTILINE) if heading else []
            anchors = [re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles]
            assert not heading or heading in anchors, target


def test_output_on_a_page_is_that_of_today():
    """Tables and remarks that pages quote: every line of theirs is printed now, numbers included."""
    texts = {name: (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8") for name in ("limits", "chains")}
    quoted = {name: re.findall(r"```text\n(.*?)```", text, re.DOTALL) for name, text in texts.items()}
    result = study("hexapod", "hexapod-tour", certify=False)
    now = {"limits": str(verdict(result)), "chains": "\n".join(check("3-rps").remarks)}
    table = quoted["limits"][0].partition("verdict\n")[2].splitlines()[1:]
    assert len(table) == len(verdict(result).table.rows)
    for page, lines in {"limits": table, "chains": quoted["chains"][0].splitlines()}.items():
        printed = [line.split() for line in now[page].splitlines()]
        assert [line for line in lines if line.split() not in printed] == [], page


def test_the_circle_of_the_guide_is_one(model_of):
    """Constant distance from its centre, constant speed 2 pi r rpm/60, and the orientation of home."""
    assert generated.CIRCLE in (ROOT / "docs" / "motion-files.md").read_text(encoding="utf-8")
    model = model_of("pedrammehr")
    motion = loads_motion(generated.CIRCLE).task(model).motion
    away = motion.pose[:, :3, 3] - model.robot.home.position
    assert np.linalg.norm(away, axis=1) == pytest.approx(0.05, rel=1e-12)
    assert np.linalg.norm(motion.twist, axis=1) == pytest.approx(2 * np.pi * 0.05 * 40 / 60, rel=1e-12)
    assert np.abs(motion.pose[:, :3, :3] - model.robot.home.matrix[:3, :3]).max() < 1e-15
    assert motion.time[-1] == 1.5


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The guide as it is built: without a warning."""
    pytest.importorskip("zensical", reason="zensical is not installed (it comes with '.[test]' and '.[docs]')")
    folder = tmp_path_factory.mktemp("guide")
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    shutil.copytree(ROOT / "docs", folder / "docs")  # the builder takes pages below its own folder only
    (folder / "mkdocs.yml").write_text(settings.replace("paths: [src]", f"paths: [{ROOT / 'src'}]"), encoding="utf-8")
    command = [sys.executable, "-m", "zensical", "build", "--strict"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "site"


@pytest.mark.long
def test_the_guide_asks_no_other_host(site):
    """Nothing is fetched: no script, style, font or picture from elsewhere; links that a reader follows may be."""
    robot = (site / "robot-files.html").read_text(encoding="utf-8")
    for name in (*Robot.model_fields, "check", "half_angle", "viscous"):
        assert f"<code>{name}</code>" in robot, name
    for kind in ("UPS", "PUS", "PRU", "PRPaR"):
        assert f"Leg kind {kind}" in robot
    motion = (site / "motion-files.html").read_text(encoding="utf-8")
    for name in (*MotionFile.model_fields, *(f"Path kind {kind}" for kind in PathKind.registry)):
        assert name in motion
    commands = (site / "commands.html").read_text(encoding="utf-8")
    for name in COMMANDS:
        assert f"polypod {name}" in commands
    pages, styles = list(site.rglob("*.html")), list(site.rglob("*.css"))
    assert len(pages) > len(PAGES)
    assert styles
    for page in pages:
        text = page.read_text(encoding="utf-8")
        fetched = re.findall(r"<(?:script|img|iframe)[^>]*\ssrc=[\"']?([^\"' >]+)", text)
        fetched += re.findall(r"<link[^>]*rel=[\"']?stylesheet[^>]*href=[\"']?([^\"' >]+)", text)
        assert not [address for address in fetched if re.match(r"(https?:)?//", address)], page
    for style in styles:
        assert not re.search(r"url\([\"']?(https?:)?//", style.read_text(encoding="utf-8")), style


@pytest.mark.long
def test_formulas_are_typeset(site):
    """None is left as TeX, also where a line of the page breaks in it."""
    for page in site.rglob("*.html"):
        text = re.sub(r"<(code|pre|script)\b.*?</\1>", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        assert not re.search(r"\$[^$<]*\\[a-zA-Z]", text), page.name
    assert (site / "theory.html").read_text(encoding="utf-8").count("<math") > 30


@pytest.mark.long
def test_the_gallery_shows_what_its_programs_draw(tmp_path, monkeypatch):
    """Each program draws a figure, each figure is on the page, and the one kept has the same words."""
    import make_gallery

    drawn = re.findall(r'savefig\("([\w-]+\.svg)"\)', "".join(make_gallery.programs()))
    shown = re.findall(r"\(images/gallery/([\w-]+\.svg)\)", make_gallery.PAGE.read_text(encoding="utf-8"))
    assert drawn == shown
    assert sorted(drawn) == sorted(path.name for path in make_gallery.IMAGES.iterdir())
    monkeypatch.setattr(make_gallery, "IMAGES", tmp_path / "gallery")
    make_gallery.main()
    for name in drawn:
        kept, fresh = (
            re.findall(r">([^<>]*[A-Za-z][^<>]*)</text>", path.read_text(encoding="utf-8"))
            for path in (ROOT / "docs" / "images" / "gallery" / name, tmp_path / "gallery" / name)
        )
        assert kept == fresh, f"{name} is out of date; run: python docs/make_gallery.py"


@pytest.mark.long
def test_the_reference_has_every_public_name(site):
    """Each with a heading of its own, and no markup that its builder does not read."""
    for page, (_, names) in generated.REFERENCE.items():
        text = (site / "reference" / f"{page}.html").read_text(encoding="utf-8")
        asked = re.findall(r"^::: (\S+)$", generated.reference(page), re.MULTILINE)
        assert len(asked) >= len(names)
        for name in asked:
            assert f'id="{name}"' in text, name
        assert not re.search(r":(func|class|meth|mod|data|attr):", text), page
    model = (site / "reference" / "model.html").read_text(encoding="utf-8")
    assert all(f'Model.{name}"' in model for name in ("inverse_dynamics", "forward_kinematics", "reactions"))
