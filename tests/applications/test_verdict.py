"""Verdicts by hand: robots of one degree of freedom whose forces, speeds, bearing loads and motors are closed forms."""

from __future__ import annotations

import json
from functools import cache

import numpy as np
import pytest

import polypod as pp
from polypod.datasets import load_result, save_result
from polypod.description import Bearing
from polypod.files import save
from polypod.motion import Poses, make_task
from polypod.results import bearings, motors, rotor_notes, study, verdict
from polypod.results.bearings import static_loads
from polypod.results.figures import force_speed
from polypod.tables import table
from support.command_line import polypod
from support.refusals import failed, refused, says
from support.robots.slides import ACROSS, ARM, DOWN, MASS, MOMENT, hinge, sine, slide

SIZE, TURNS = 0.02, 1.5
W = 2 * np.pi * TURNS
LEAD, GEAR, ROTOR = 0.005, 2.0, 2e-5
REFLECTED = ROTOR * (2 * np.pi * GEAR / LEAD) ** 2
LIMITS = {
    "max_force": 120.0, "rms_force": 100.0, "max_speed": 0.25, "max_acceleration": 2.5, "max_power": 20.0,
    "force_speed": [[0, 200], [0.5, 0]], "max_stroke": 0.05, "range": [-0.05, 0.03], "lead": LEAD, "gear": GEAR,
    "rotor_inertia": ROTOR, "torque_constant": 0.1,
}  # fmt: skip
# samples at extremes and 800 a period: peaks are exact, means of squares of sines too (trapezoidal rule, whole period)
EXACT = 1e-9


@cache
def lifted():
    return sine(slide({"dynamic_load_rating": 1000.0, "rolling_elements": "roller"}, **LIMITS), SIZE, TURNS)


@cache
def turned():
    rated = {"dynamic_load_rating": "2 kN"}
    return sine(hinge(rated, max_torque="8 N m", max_speed="60 rpm", gear=50.0), 0.3, 1.0)


def force(time):
    """m (g + a) of the mass, and what accelerates the rotor."""
    a = -SIZE * W**2 * np.sin(W * time)
    return MASS * (DOWN + a) + REFLECTED * a


def test_uses_of_a_slide_by_hand():
    found = {one.quantity: one for one in verdict(lifted()).rows}
    time = lifted().time.values
    peak = MASS * DOWN + (MASS + REFLECTED) * SIZE * W**2
    mean = np.sqrt((MASS * DOWN) ** 2 + 0.5 * ((MASS + REFLECTED) * SIZE * W**2) ** 2)
    speed = SIZE * W * np.cos(W * time)
    wanted = {
        "force": peak / 120.0,
        "continuous force": mean / 100.0,
        "force at speed": (force(time) / 200 + np.abs(speed) / 0.5).max(),
        "speed": SIZE * W / 0.25,
        "acceleration": SIZE * W**2 / 2.5,
        "power": np.abs(force(time) * speed).max() / 20.0,
        "stroke": 2 * SIZE / 0.05,
        "lift range": (SIZE + 0.01) / 0.04,
        "bearing": MASS * ACROSS / 1000.0,
    }
    assert list(found) == list(wanted)
    for name, use in wanted.items():
        assert found[name].use == pytest.approx(use, rel=EXACT), name
        assert (
            found[name].use == pytest.approx(abs(found[name].value / found[name].allowed), rel=EXACT)
            or name == "lift range"
        )
        assert found[name].kept == (use <= 1)
    assert found["force"].time == pytest.approx(0.75 / TURNS, rel=1e-12)
    assert (found["lift range"].value, found["lift range"].allowed) == pytest.approx((SIZE, 0.03), rel=EXACT)
    assert (found["continuous force"].time, found["stroke"].time) == (None, None)
    assert {one.where for one in found.values()} == {"drive", "guide guide"}


def test_the_verdict_as_a_whole():
    found = verdict(lifted())
    assert not found.ok
    assert found.worst.quantity in ("force", "continuous force")
    assert found.worst.use == max(one.use for one in found.uses)
    assert found.headline.startswith("Does not fit: ")
    assert found.unjudged == ()
    assert str(found).splitlines()[0] == found.headline
    assert len(str(found).splitlines()) == 11
    rows = found.html_rows()
    assert rows.count('<tr class="broken">') == sum(not one.kept for one in found.rows)
    assert rows.count("<tr") == 1 + len(found.rows)
    assert json.loads(json.dumps(found.data()))["ok"] is False
    free = verdict(sine(slide(), SIZE, TURNS, 5))
    assert free.ok
    assert free.worst is None
    assert "gives no limits" in free.headline
    assert len(free.unjudged) == 7


def test_a_limit_holds_at_its_very_value():
    """A limit that is exactly reached is kept; a millionth less is broken and does not read as 100 %."""
    peak = float(np.abs(lifted().force.values).max())
    plain = {"lead": LEAD, "gear": GEAR, "rotor_inertia": ROTOR}
    at = verdict(sine(slide(max_force=peak, **plain), SIZE, TURNS))
    assert at.ok
    assert at.rows[0].use == 1.0
    over = verdict(sine(slide(max_force=peak * (1 - 1e-6), **plain), SIZE, TURNS))
    assert not over.ok
    assert "just over 100 %" in over.headline


def test_uses_of_a_hinge_by_hand():
    """tau = (J + m r^2) a + m g r sin(x); torques and degrees are called so."""
    time = turned().time.values
    x, a = 0.3 * np.sin(2 * np.pi * time), -0.3 * (2 * np.pi) ** 2 * np.sin(2 * np.pi * time)
    torque = (MOMENT + MASS * ARM**2) * a + MASS * DOWN * ARM * np.sin(x)
    found = {one.quantity: one for one in verdict(turned()).rows}
    assert list(found) == ["torque", "speed", "bearing"]
    assert found["torque"].use == pytest.approx(np.abs(torque).max() / 8.0, rel=EXACT)
    assert found["speed"].use == pytest.approx(0.3, rel=EXACT)  # 0.3 rad 2 pi rad/s of a turn a second
    assert verdict(turned()).table.records()[1]["unit"] == "deg/s"
    assert "continuous torque" in verdict(turned()).unjudged


def test_axial_and_radial_parts_and_lives_by_hand():
    rows = {row["joint"]: row for row in bearings(lifted()).records()}
    outside = MASS * (DOWN + SIZE * W**2)  # the rotor turns behind the slide: its joint does not feel it
    assert rows["lift"]["axial_force"] == pytest.approx(outside, rel=EXACT)
    assert rows["lift"]["radial_force"] < 1e-9
    assert rows["guide"]["axial_force"] < 1e-9
    assert rows["guide"]["radial_force"] == pytest.approx(MASS * ACROSS, rel=EXACT)
    assert rows["ball"]["axial_force"] is None  # no axis
    # the rod is perpendicular to both axes of the cross: all of its load is radial there
    assert rows["cross"]["radial_force"] == pytest.approx(outside, rel=EXACT)
    assert rows["cross"]["axial_force"] < 1e-9
    assert rows["guide"]["basic_life"] == pytest.approx((1000.0 / (MASS * ACROSS)) ** (10 / 3), rel=EXACT)
    assert rows["guide"]["life_counts"] == "100 km"
    assert rows["ball"]["basic_life"] is None

    row = next(row for row in bearings(turned()).records() if row["joint"] == "hinge")
    assert row["axial_force"] == pytest.approx(MASS * ACROSS, rel=EXACT)  # gravity along the hinge
    size = np.linalg.norm(turned().reaction_force.sel(joint="hinge.hinge").values, axis=1)
    load = np.cbrt(np.trapezoid(size**3, turned().time.values))  # over one second
    assert row["mean_load"] == pytest.approx(load, rel=1e-12) == pytest.approx(row["cubic_mean_force"], rel=1e-12)
    assert row["basic_life"] == pytest.approx((2000.0 / load) ** 3, rel=1e-12)
    assert row["life_counts"] == "million turns"


def test_lives_in_hours_by_hand():
    """A swing of +-A travels 4 A a period T: n = 60 4 A/(2 pi T) turns a minute, L10h = 10^6 (C/P)^p/(60 n)."""
    rows = {row["joint"]: row for row in bearings(turned()).records()}
    speed = 60 * 4 * 0.3 / (2 * np.pi)  # a period of one second
    assert rows["hinge"]["life"] == pytest.approx(1e6 * rows["hinge"]["basic_life"] / (60 * speed), rel=EXACT)
    assert rows["motor"]["life"] is None  # not rated
    guide = {row["joint"]: row for row in bearings(lifted()).records()}["guide"]
    metres = 4 * SIZE * TURNS  # a second
    assert guide["life"] == pytest.approx(1e5 * guide["basic_life"] / metres / 3600, rel=EXACT)
    # in a parallelogram the ball turns as the hinge, the rod only along itself: so does the cross's first pivot
    way = turned().joint_travel.sel(joint=["drive.motor", "drive.cross", "drive.ball"]).values
    np.testing.assert_allclose(way[-1], 4 * 0.3, rtol=EXACT)
    # the rod stays upright on the way up and down: what does not move has no life in hours
    assert (lifted().joint_travel.sel(joint=["drive.cross", "drive.ball"]).values[-1] < 1e-9).all()


def test_equivalent_loads_by_factors_of_a_catalogue():
    """P = X Fr + Y Fa, or Fr where that is more, to the power 3 over time; Fa is gravity along the hinge."""
    size = np.linalg.norm(turned().reaction_force.sel(joint="hinge.hinge").values, axis=1)
    axial = MASS * ACROSS
    radial = np.sqrt(size**2 - axial**2)
    factor = 0.44 * float(np.median(radial)) / axial
    rated = {"dynamic_load_rating": "2 kN", "radial_factor": 0.56, "axial_factor": factor}
    result = sine(hinge(rated, max_torque="8 N m", max_speed="60 rpm", gear=50.0), 0.3, 1.0)
    both = np.maximum(radial, 0.56 * radial + factor * axial)
    assert (both > radial).any()
    assert (both == radial).any()
    row = next(row for row in bearings(result).records() if row["joint"] == "hinge")
    assert row["mean_load"] == pytest.approx(np.cbrt(np.trapezoid(both**3, result.time.values)), rel=1e-9)
    with refused(ValueError, "radial_factor axial_factor"):
        Bearing(dynamic_load_rating=1.0, radial_factor=0.5)


def test_static_safety_by_hand():
    """s0 = C0/P0 with P0 = X0 Fr + Y0 Fa, or Fr where that is more, at its largest (ISO 76)."""
    axial = MASS * ACROSS
    rated = {"static_load_rating": "1.5 kN", "static_radial_factor": 0.6, "static_axial_factor": 0.5}
    result = sine(hinge(rated, max_torque="8 N m", max_speed="60 rpm", gear=50.0), 0.3, 1.0)
    size = np.linalg.norm(result.reaction_force.sel(joint="hinge.hinge").values, axis=1)
    radial = np.sqrt(size**2 - axial**2)
    load = np.maximum(radial, 0.6 * radial + 0.5 * axial)
    row = next(row for row in bearings(result).records() if row["joint"] == "hinge")
    assert row["static_safety"] == pytest.approx(1500.0 / load.max(), rel=EXACT)
    use = next(one for one in verdict(result).uses if one.quantity == "bearing, static")
    assert (use.use, use.where) == (pytest.approx(load.max() / 1500.0, rel=EXACT), "hinge hinge")
    assert load[np.flatnonzero(result.time.values == use.time)[0]] == pytest.approx(load.max(), rel=EXACT)
    # without factors the whole force counts
    plain = next(one for one in static_loads(sine(hinge({"static_load_rating": "1.5 kN"}), 0.3, 1.0)))
    assert plain.load == pytest.approx(size.max(), rel=EXACT)
    with refused(ValueError, "static_radial_factor"):
        Bearing(static_load_rating=1.0, static_radial_factor=0.5)


def test_motors_by_hand():
    row = motors(lifted()).records()[0]
    ratio = 2 * np.pi * GEAR / LEAD
    peak = MASS * DOWN + (MASS + REFLECTED) * SIZE * W**2
    assert row["peak_torque"] == pytest.approx(peak / ratio, rel=EXACT)
    assert row["peak_speed"] == pytest.approx(SIZE * W * ratio * 30 / np.pi, rel=EXACT)
    assert row["peak_current"] == pytest.approx(peak / ratio / 0.1, rel=EXACT)
    backwards = lifted().assign(qdot=-np.abs(lifted().qdot))
    assert motors(backwards).records()[0]["peak_speed"] == row["peak_speed"]
    turning = motors(turned()).records()[0]
    assert turning["peak_speed"] == pytest.approx(0.3 * 60 * 50, rel=EXACT)
    assert "peak_current" not in turning
    assert motors(sine(slide(), SIZE, TURNS, 5)).rows == ()


def test_a_note_where_no_motor_inertia_is_given():
    assert rotor_notes(lifted()) == []
    text = rotor_notes(turned())
    assert len(text) == 1
    says(text[0], "inertia")
    assert rotor_notes(sine(slide(rotor=0.0), SIZE, TURNS, 5)) == []  # none, and it says so
    assert round(1e-4 * (2 * np.pi / 0.005) ** 2) == 158  # what the note says


def test_verdicts_survive_a_file(tmp_path):
    path = save_result(lifted(), tmp_path / "lifted.nc")
    assert verdict(load_result(path)) == verdict(lifted())


def test_force_speed_figure_draws_the_envelope():
    drawn = force_speed(lifted()).axes[0]
    labels = drawn.get_legend_handles_labels()[1]
    assert labels == ["drive", "drive envelope", "continuous force", "largest rms force"]
    speeds, forces = next(line for line in drawn.lines if line.get_label() == "drive envelope").get_data()
    assert max(speeds) == 250.0  # mm/s
    assert max(forces) == 120.0
    assert forces[-1] == 0.0
    (given,) = drawn.collections
    assert given.get_zorder() < min(line.get_zorder() for line in drawn.lines)  # behind the curves, not over them
    assert len(force_speed(sine(slide(), SIZE, TURNS, 5)).axes[0].lines) == 1


def test_equal_actuators_are_one_curve_of_torque_against_speed(model_of):
    """All legs of a hexapod that goes up do the same; of motors people read torques."""
    model = model_of("hexapod")
    home = model.robot.home.matrix
    task = make_task(model, Poses.through([home, pp.pose(z=0.02) @ home], [0.0, 1.0]), 50.0)
    lines = force_speed(study(model, task, certify=False)).axes[0].lines
    assert [line.get_label() for line in lines if "envelope" not in line.get_label()] == ["all 6 identical"]
    motors = table("Actuators", [("actuator", ""), ("peak force", "N m")], [("arm1", 2.0)])
    assert [column.name for column in motors.practical().columns] == ["actuator", "peak torque"]
    assert motors.records()[0]["peak_force"] == 2.0  # programs find what they always did


def test_strict_runs_end_with_two(tmp_path):
    path = tmp_path / "slide.yaml"
    save(slide(max_speed=0.05), path)
    args = ["run", str(path), "around-home", "--no-files", "--no-certify", "--rate", "20"]
    kept = polypod(*args, "--strict", "--set", "legs.drive.joints.lift.max_speed=50 m/s")
    assert kept.exit_code == 0
    says(kept.output, "1")
    says(kept.output, "inertia")
    broken = polypod(*args, "--strict", "--json", "--set", "legs.drive.joints.lift.max_speed=1e-6")
    assert broken.exit_code == 2
    says(broken.output, "--strict speed")
    assert '"verdict"' in broken.output
    wrong = polypod(*args, "--set", "legs.drive.joints.lift.max_speed=1 lb")
    assert wrong.exit_code == 2
    failed(wrong, "m/s mm/s rad/s deg/s rpm")


def test_run_judges_the_library_hexapod(model_of):
    result = study(model_of("hexapod"), "around-home")
    found = verdict(result)
    assert [one.quantity for one in found.rows][:3] == ["force", "speed", "length range"]
    assert found.ok
    length = next(one for one in found.rows if one.quantity == "length range")
    q = result.q.values
    assert length.use == pytest.approx(np.abs(q - 0.45).max() / 0.08, rel=1e-12)
