"""Numbers that others have published of mechanisms: benchmarks of IFToMM, tests of other programs, tables of robots.

Sources are named in the files of tests/data/published.
"""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polypod as pp
from support import compare
from support.refusals import refused

DATA = Path(__file__).parent.parent / "data"


def published(name: str) -> dict[str, Any]:
    """The content of a file."""
    return json.loads((DATA / "published" / f"{name}.json").read_text())


def squeezer() -> tuple[dict[str, Any], pp.Model]:
    """Andrews' squeezing mechanism at 0.03 s, its platform the triangle that the spring pulls at."""
    data = published("andrews-squeezer")
    return data, pp.Model(pp.Robot.model_validate(data["robot"]))


def test_andrews_squeezer_accelerates_as_published() -> None:
    """To the digits that the published rates, which leave loops open by 1e-9 m/s, allow; to 1e-10 at consistent ones.

    The consistent acceleration is that of the KKT system of the published equations in 40 digits (see the file).
    """
    data, m = squeezer()
    home = m.robot.home.matrix
    gamma = data["order"].index("gamma")
    twist = np.array(data["twist"])
    acceleration = m.direct_dynamics(home, twist, [data["torque"]], np.array(data["wrench"]))
    compare.close(acceleration[5], data["qddot"][gamma], 2e-7)
    compare.close(acceleration[5], 324102.5996517476, 1e-10)
    compare.close(m.rates(home, twist), [1139.92030048969], 1e-11)
    back = m.inverse_dynamics(home, twist, acceleration, np.array(data["wrench"]))
    compare.close(back, [data["torque"]], 1e-8)


def test_andrews_squeezer_at_its_published_start_is_at_a_dead_point() -> None:
    """Crank and rod are in line there (Theta = 0): the message says so, and what to do."""
    data = published("andrews-squeezer")
    p, start = data["parameters"], dict(zip(data["order"], data["start"]["q"], strict=True))
    robot = copy.deepcopy(data["robot"])
    old = {joint["name"]: np.array(joint["at"]) for leg in robot["legs"] for joint in leg["joints"]}
    beta = start["beta"]
    crank = np.array([np.cos(beta), np.sin(beta), 0.0])
    new = {"f": p["rr"] * crank, "e": (p["rr"] - p["d"]) * crank}
    # the legs' other joints, by their lengths and on the same sides
    for name in ("g", "h"):
        base, end = old["a"], new["e"]
        length, rod = np.linalg.norm(old[name] - base), np.linalg.norm(old[name] - old["e"])
        side = np.sign(np.cross(old["e"] - base, old[name] - base)[2])
        far = np.linalg.norm(end - base)
        along = (length**2 - rod**2 + far**2) / (2 * far)
        u = (end - base) / far
        new[name] = base + along * u + side * np.sqrt(length**2 - along**2) * np.array([-u[1], u[0], 0.0])
    for leg in robot["legs"]:
        for joint in leg["joints"]:
            joint["at"] = new.get(joint["name"], old[joint["name"]]).tolist()
    with refused(ValueError, "legs.0.joints f"):
        pp.Robot.model_validate(robot)


def test_forces_of_a_stewart_platform_with_uneven_bodies() -> None:
    """Lengths, rates and accelerations of six pods -> pose, screws and forces up to 4810 N."""
    data = published("aris-stewart")
    m = pp.Model(pp.Robot.model_validate(data["robot"]))
    wanted = np.array(data["pose"])
    pose = m.forward_kinematics(data["q"], wanted)
    compare.close(pose, wanted, 1e-11)
    velocity, change = (np.array(data[f"{what}_screw_at_base_origin"]) for what in ("velocity", "acceleration"))
    point, omega, alpha = pose[:3, 3], velocity[3:], change[3:]
    v = velocity[:3] + np.cross(omega, point)
    twist = np.r_[v, omega]
    acceleration = np.r_[change[:3] + np.cross(alpha, point) + np.cross(omega, v), alpha]
    compare.close(m.rates(pose, twist), data["qdot"], 1e-11)
    compare.close(m.accelerations(pose, twist, acceleration), data["qddot"], 1e-10)
    compare.close(m.inverse_dynamics(pose, twist, acceleration), data["force"], 1e-10)
    assert np.abs(data["force"]).max() > 4800
    found = m.direct_dynamics(pose, twist, data["force"])
    compare.close(found, acceleration, 1e-10)


@pytest.mark.long
def test_bricards_mechanism_falls_as_in_exudyn() -> None:
    """After 1 s from rest; Exudyn's 16,000 steps leave some 1e-8 m, its printed value of 1,000 steps 4e-7."""
    data = published("bricard-iftomm")
    m = pp.Model(pp.Robot.model_validate(data["robot"]))
    events = {"limit": "ignore", "singularity": "ignore"}
    found = pp.simulate(m, duration=data["time"], rtol=1e-10, atol=1e-12, friction=False, events=events, progress=False)
    assert float(found["time"][-1]) == data["time"]
    compare.close(found["pose"].values[-1, :3, 3], data["platform_origin"], 1e-7)


@pytest.mark.parametrize(("name", "rounding"), [("g1", 4e-5), ("tiangong", 7e-5)])
def test_the_motors_of_humanoid_ankles(name: str, rounding: float) -> None:
    """Pitch and roll -> motor angles, tables whose own rounding is as large as that: exact loops agree to 1e-15."""
    m = pp.Model(f"ankle-{name}")
    table = np.array(published("parallel-ankles")[name])
    found = m.inverse_kinematics(m.motion(table[:, :2]).pose)
    assert np.abs(found - table[:, 2:]).max() <= rounding
    assert np.abs(table[:, 2:]).max() > 0.29
