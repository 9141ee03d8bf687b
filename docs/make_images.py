"""Makes the pictures of the README and the guide from the library itself: python3 docs/make_images.py"""

from __future__ import annotations

import runpy
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

import polypod as pp
from polypod import Model
from polypod.motion import make_task
from polypod.results import figures as plots
from polypod.results import study

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests"))

from support.browser import Browser  # noqa: E402

IMAGES = HERE / "images"
EXAMPLES = {
    "simulation_swing": "swing-energies.png",
    "simulation_tracking": "tracking-against-mass.png",
    "simulation_friction": "friction-compensation.png",
    "simulation_flexible": "flexible-vibration.png",
    "long-flexible": "flexible-bending.png",
    "custom_leg": "custom-leg.png",
    "identify": "identify.png",
    "spring_sweep": "spring-sweep.png",
    "control_loop": "control-loop.png",
    "fmu_loop": "fmu-loop.png",
    "mpc_hexapod": "mpc-hexapod.png",
    "learn_to_reach": "learn-to-reach.png",
    "mppi_obstacle": "mppi-obstacle.png",
}
"""Every example, and the picture of it that the gallery shows."""


def main() -> None:
    """Write the picture of the README, robot and forces on the circle of the paper's figure 7, and those of the guide.

    The benchmark's picture comes from bench/results.py.
    """
    IMAGES.mkdir(exist_ok=True)
    model = Model("kim-ryu")
    plots.cover(study(model, make_task(model))).savefig(IMAGES / "kim-ryu.png", dpi=110)
    for name in EXAMPLES:
        example(name)
    designer()
    live()


def example(name: str) -> None:
    """Run an example, or the motion of its robot, and keep its picture."""
    source = HERE.parent / "examples" / name
    with tempfile.TemporaryDirectory() as folder:
        drawn = Path(folder) / EXAMPLES[name]
        if source.with_suffix(".yaml").is_file():
            plots.bending(study(source.with_suffix(".yaml"), "long-example")).savefig(drawn)
        else:
            runpy.run_path(str(source.with_suffix(".py")))["main"](Path(folder))
        _shrink(drawn, IMAGES / EXAMPLES[name])


def designer() -> None:
    """The pictures that the commands of the designers' page make."""
    sizes = {"--base-radius": "300 mm", "--platform-radius": "200 mm", "--height": "350 mm", "--stroke": "150 mm"}
    options = [word for pair in sizes.items() for word in pair]
    with tempfile.TemporaryDirectory() as name:
        for line in (
            ["new", "my-hexapod", "--kind", "hexapod", *options, "--mass", "50"],
            ["new", "lift", "--motion"],
            ["new", "--catalogue"],
            [
                "drives",
                "my-hexapod.yaml",
                "lift.yaml",
                "--catalogue",
                "drives.csv",
                "--body",
                "lower",
                "--out",
                "d.png",
            ],
            ["workspace", "my-hexapod.yaml", "--out", "workspace"],
        ):
            subprocess.run([sys.executable, "-m", "polypod", *line], cwd=name, check=True)
        robot = Path(name) / "my-hexapod.yaml"
        plots.robot_picture(pp.load(robot)).savefig(Path(name) / "robot.png", dpi=110)
        _shrink(Path(name) / "robot.png", IMAGES / "my-hexapod.png", shaded=True)
        _shrink(Path(name) / "d.png", IMAGES / "drives.png")
        _shrink(Path(name) / "workspace" / "figures" / "positions.png", IMAGES / "workspace.png", shaded=True)


def live() -> None:
    """The live page, photographed in Chromium as its test drives it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        page = pp.view("hexapod", "hexapod-tour").save(folder / "page.html")
        with Browser(folder, size=(1400, 890)) as browser:
            browser.open(page)
            browser.wait_for(lambda: browser.ask("Boolean(window.polypod)"))
            browser.ask("polypod.setInstant(90); new Promise(done => setTimeout(done, 3000))")
            browser.shot(folder / "live.png")
        _shrink(folder / "live.png", IMAGES / "live.png", shaded=True)


def _shrink(source: Path, target: Path, shaded: bool = False) -> None:
    """A picture as wide as a page of the guide, in few colours: a third of the bytes. Shades need more of them."""
    picture = Image.open(source).convert("RGB")
    width = min(1100, picture.width)
    scaled = picture.resize((width, round(picture.height * width / picture.width)), Image.Resampling.LANCZOS)
    if shaded:
        few = scaled.quantize(256, Image.Quantize.MEDIANCUT, kmeans=8, dither=Image.Dither.FLOYDSTEINBERG)
    else:
        few = scaled.quantize(128, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    few.save(target, optimize=True)


if __name__ == "__main__":
    main()
