"""What users try first in Python works, or the error says what to write instead."""

from __future__ import annotations

import numpy as np
import pytest

import polypod as pp
from polypod.errors import ImplausibleWarning, InputError, UnknownNameError
from support.refusals import refused, warned


@pytest.fixture(scope="module")
def model() -> pp.Model:
    return pp.Model("hexapod")


def test_a_model_knows_its_home_and_draws_itself(model):
    assert np.array_equal(model.home, model.robot.home.matrix)
    picture = model.plot()
    assert picture._repr_png_().startswith(b"\x89PNG")
    higher = model.home.copy()
    higher[2, 3] += 0.05
    assert model.plot(higher).get_size_inches()[1] != picture.get_size_inches()[1]
    assert pp.plots.robot_picture(model).axes
    with refused(InputError, "pose"):
        model.plot(np.stack([higher, higher]))


def test_view_takes_a_model_and_a_motion(model):
    assert pp.view(model).html.startswith("<!DOCTYPE html>")
    assert "hexapod-tour" in pp.view(model, "hexapod-tour").html


def test_simulate_follows_a_motion(model):
    """The same as the controller built by hand: nothing else is chosen in between."""
    motion = pp.motion.make_task(model, "hexapod-tour").trajectory
    short = {"duration": 0.02, "progress": False}
    found = pp.simulate(model, "hexapod-tour", **short)
    controller = pp.control.controller("computed-torque", model, motion)
    by_hand = pp.simulate(model, controller, rate=1000.0, reference=controller.reference, **short)
    assert np.array_equal(found.pose.values, by_hand.pose.values)
    assert np.array_equal(found.force.values, by_hand.force.values)
    assert found.attrs["motion"] == "hexapod-tour"
    again = pp.simulate("hexapod", motion, pose=model.home, **short)
    assert np.array_equal(again.pose.values[0], model.home)


def test_simulate_without_motion_needs_a_duration(model):
    with refused(InputError, "duration"):
        pp.simulate(model)
    with refused(UnknownNameError) as caught:
        pp.simulate(model, "tour")
    assert "hexapod-tour" in caught.value.near


def test_a_study_takes_a_rate_and_a_trajectory(model):
    by_name = pp.study(model, "hexapod-tour", rate=20.0, certify=False)
    sampled = pp.motion.make_task(model, "hexapod-tour", 20.0)
    assert np.array_equal(by_name.force.values, pp.study(model, sampled, certify=False).force.values)
    by_trajectory = pp.study(model, sampled.trajectory, rate=20.0, certify=False)
    assert np.array_equal(by_trajectory.force.values, by_name.force.values)
    with refused(InputError, "rate"):
        pp.study(model, sampled, rate=20.0)


def test_texts_with_units_are_quantities(model):
    assert np.array_equal(pp.pose(z="450 mm", pitch="5 deg"), pp.pose(z=0.45, pitch=np.deg2rad(5)))
    assert np.array_equal(pp.pose(x=["1 mm", "2 mm"]), pp.pose(x=[0.001, 0.002]))
    still = np.zeros(6)
    heavy = model.inverse_dynamics(model.home, still, still, parameters={"platform.mass": "60 kg"})
    assert np.array_equal(heavy, model.inverse_dynamics(model.home, still, still, parameters={"platform.mass": 60.0}))
    soft = pp.analysis.stiffness(model, model.home, drive="20 N/um").matrix
    assert np.array_equal(soft, pp.analysis.stiffness(model, model.home, drive=2e7).matrix)


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda model: pp.pose(z="450 kg"), "z"),
        (lambda model: pp.pose(pitch="much"), "pitch"),
        (
            lambda model: model.inverse_dynamics(
                model.home, np.zeros(6), np.zeros(6), parameters={"platform.mass": "60 mm"}
            ),
            "platform.mass",
        ),
        (lambda model: pp.analysis.stiffness(model, model.home, drive="20 kg"), "drive"),
    ],
)
def test_texts_of_another_unit_are_refused(model, call, argument):
    with refused(InputError, argument, code="unit"):
        call(model)


@pytest.mark.parametrize(("name", "value"), [("z", 450), ("pitch", 5), ("yaw", -90.0), ("x", 1200)])
def test_millimetres_and_degrees_are_suspected(name, value):
    with warned(ImplausibleWarning, name):
        pp.pose(**{name: value})


@pytest.mark.filterwarnings("error")
def test_plausible_poses_pass_in_silence():
    pp.pose(z=90.0, yaw=3.1)
    pp.pose(yaw=np.linspace(0.0, 20.0, 5))  # an angle that was unwrapped
    pp.pose(yaw="400 deg")


def test_a_robot_is_changed_by_a_copy(model):
    heavy = model.robot.with_(platform={"mass": "60 kg"}, name="heavy")
    assert (heavy.name, heavy.platform.mass, model.robot.platform.mass != 60) == ("heavy", 60.0, True)
    assert heavy.legs == model.robot.legs
    limited = model.robot.with_({"legs.*.max_force": "2 kN", "legs.leg1.max_force": 1e3})
    assert [leg.max_force for leg in limited.legs] == [1e3, *[2e3] * 5]
    with refused(UnknownNameError):
        model.robot.with_(platform={"weight": 3})
    with refused(InputError, "mass", code="frozen"):
        model.robot.platform.mass = 60


def test_a_vector_for_a_pose_is_explained(model):
    for vector in (np.zeros(6), [0.0, 0.0, 0.4], np.zeros((5, 7))):
        with refused(InputError, "pose", code="not_a_pose"):
            model.inverse_kinematics(vector)


def test_completion_shows_public_names_alone():
    for module in (pp.plots, pp.analysis, pp.motion, pp.control, pp.tables):
        assert dir(module) == sorted(module.__all__), module.__name__


def test_tables_become_data_frames(model):
    result = pp.study(model, "hexapod-tour", rate=20.0, certify=False)
    table = pp.results.actuators(result)
    frame = table.to_pandas()
    assert list(frame.columns) == [column.header for column in table.columns]
    assert len(frame) == 6
    assert frame["peak force [N]"].abs().max() == abs(result.force.values).max()
