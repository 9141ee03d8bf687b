"""Every command on every robot of the library: an answer, or an error in words; never a traceback."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import pytest

import polypod as pp
from support.command_line import polypod

STUDY = """
name: heavier
robot: ROBOT
rate: 10
vary: [{parameters: platform.mass, pattern: factor, range: [0.9, 1.1]}]
report: [peak force]
minimise: peak force
sample: {method: latin, count: 3}
"""
TOLERANCES = "actuators: {distribution: normal, sigma: 2e-6}\n"
FUNCTIONS = ("inverse_dynamics", "forward_kinematics", "control_step")
COMMANDS = {
    "check": "check ROBOT",
    "show": "show ROBOT --picture robot.png",
    "modes": "modes ROBOT --no-draw",
    "run": "run ROBOT --rate 20 --out run",
    "run without proof": "run ROBOT --rate 20 --no-certify --no-friction --no-files",
    "compare": "compare ROBOT ROBOT --rate 20",
    "view": "view ROBOT --rate 20 --out page.html",
    "view more": "view ROBOT --show modes --show workspace --no-friction --out page.html --force",
    "simulate": "simulate ROBOT --rate 200",
    "simulate in the joints": "simulate ROBOT --controller joint-computed-torque --rate 200 --mass 1.1",
    "simulate a drive": "simulate ROBOT --controller joint-pd --rate 200 --no-friction --delay 0.001",
    "workspace": "workspace ROBOT --points 5",
    "workspace of drives": "workspace ROBOT --points 5 --drives --payload 1",
    "full workspace": "workspace ROBOT --full 3 --dexterous 5",
    "singularity": "singularity ROBOT",
    "stiffness": "stiffness ROBOT --drive 1e6",
    "stiffness under load": "stiffness ROBOT --drive 1e6 --wrench '0 0 -10 0 0 0' --map map.png",
    "fastest": "fastest ROBOT --max-force 1e4 --max-speed 10 --points 30",
    "fastest without jerks": "fastest ROBOT --max-force 1e4 --max-jerk 1e5 --points 30 --force",
    "excite": "excite ROBOT --duration 1 --harmonics 2 --tries 8",
    "excite equal legs": "excite ROBOT --duration 1 --harmonics 2 --tries 8 --same-legs --force",
    "calibrate": "calibrate ROBOT --plan 12 --out poses.csv",
    "drives": "drives ROBOT --rate 20 --catalogue drives.csv --out drives.png",
    "sweep": "sweep study.yaml --out sweep",
    "optimise": "optimise study.yaml --generations 1 --population 8 --out optimise",
    "accuracy": "accuracy ROBOT tolerances.yaml --samples 20",
    **{f"export {kind}": f"export {kind} ROBOT --out {kind}" for kind in ("mjcf", "urdf", "sdf")},
    **{
        f"export {kind} {function}": f"export {kind.split()[0]} ROBOT {function} {kind.partition(' ')[2]} --out code"
        for kind in ("c", "c --float", "c --iterations 12", "c++", "js")
        for function in FUNCTIONS
    },
    **{
        f"export fmu {kind}": f"export fmu ROBOT {kind} --sources --out fmu"
        for kind in ("plant", "inverse-dynamics", "forward-kinematics", "controller")
    },
}
EVERY = list(itertools.product(COMMANDS, pp.library()))
QUICK = ("check", "export mjcf", "export urdf", "export sdf", "export js inverse_dynamics")
SAMPLE = random.Random(28).sample([case for case in EVERY if case[0] in QUICK], 4)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("command", "robot"),
    [pytest.param(*case, marks=() if case in SAMPLE else pytest.mark.long) for case in EVERY],
)
def test_every_command_answers_for_every_robot(
    command: str, robot: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.yaml").write_text(STUDY.replace("ROBOT", robot))
    (tmp_path / "tolerances.yaml").write_text(TOLERANCES)
    (tmp_path / "drives.csv").write_text("name,motor_torque [N m],gear,lead [m]\nsmall,2,5,\nlarge,9,5,\n")
    words = [part.replace("ROBOT", robot) for part in _split(COMMANDS[command])]
    result = polypod(*words)
    assert result.exit_code in (0, 2), result.output
    if result.exit_code == 2:
        said = [line for line in result.stderr.splitlines() if line.startswith("error: ")]  # notes may stand before it
        assert said, result.output
        assert len(said[0].split()) > 6, result.output


def _split(text: str) -> list[str]:
    """Words of a command; what is quoted is one."""
    parts = text.split("'")
    return [word for k, part in enumerate(parts) for word in ([part] if k % 2 else part.split())]
