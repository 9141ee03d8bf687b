"""The papers' equations as written out for their studies, against golden data, differences and the library."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from polypod.motion import Motion, Published
from polypod.papers.kim_ryu import cases as kim_ryu_cases
from polypod.papers.kim_ryu import printed as kim_ryu_printed
from polypod.papers.kim_ryu.printed import (
    angular_acceleration,
    angular_velocity,
    euler_accelerations,
    euler_rates,
    rotation,
)
from polypod.papers.pedrammehr import cases as pedrammehr_cases
from polypod.papers.pedrammehr import printed as pedrammehr_compact
from polypod.papers.pedrammehr import printed as pedrammehr_printed
from polypod.papers.shared.arrays import Platform, cross, dot, times
from support.compare import assert_close, derivative
from support.states import mostly_long

GOLDEN = Path(__file__).parent.parent / "data" / "golden"
# Golden numbers are right to the last digit; the equations round through a 6 x 6 solve.
ROUNDING = 1e-12


def golden(name: str) -> list[dict[str, Any]]:
    return json.loads((GOLDEN / f"{name}.json").read_text())["states"]


def motion_of(state: dict[str, Any]) -> Motion:
    return Motion(np.zeros(1), *(np.array([state[key]]) for key in ("pose", "twist", "acceleration")))


class TestPedrammehr:
    @pytest.mark.parametrize("state", golden("pedrammehr"), ids=lambda state: state["name"])
    def test_corrected_forces_are_golden(self, state):
        at = Platform.of(motion_of(state), np.array(state["wrench"]))
        p = pedrammehr_cases.parameters("tangential")
        k = pedrammehr_printed.pods(p, at)
        passive = pedrammehr_printed.passive_force(p, k, at, pedrammehr_printed.CORRECTED)
        got = pedrammehr_printed.actuator_forces(p, k, at, passive, pedrammehr_printed.CORRECTED)
        assert_close(got, [state["force"]], ROUNDING)

    @pytest.mark.parametrize("state", golden("pedrammehr"), ids=lambda state: state["name"])
    @pytest.mark.parametrize(("ours", "theirs"), [("omega", "omega"), ("alpha", "alpha"), ("v", "v"), ("c", "c")])
    def test_pod_kinematics_are_golden(self, state, ours, theirs):
        k = pedrammehr_printed.pods(pedrammehr_cases.parameters("tangential"), Platform.of(motion_of(state)))
        wanted = np.array([[pod[theirs] for pod in state["pods"]]])
        assert_close(getattr(k, ours), wanted, ROUNDING, scale=max(np.abs(wanted).max(), 1e-3))

    @pytest.mark.parametrize("state", golden("pedrammehr"), ids=lambda state: state["name"])
    def test_simplified_kinematics_are_golden(self, state):
        k = pedrammehr_printed.pods(
            pedrammehr_cases.parameters("tangential"), Platform.of(motion_of(state)), spin=False
        )
        for ours, theirs in ((k.omega, "omega_simplified"), (k.alpha, "alpha_simplified")):
            wanted = np.array([[pod[theirs] for pod in state["pods"]]])
            assert_close(ours, wanted, ROUNDING, scale=max(np.abs(wanted).max(), 1e-3))

    @pytest.mark.parametrize("axes", pedrammehr_cases.AXES)
    def test_angular_velocity_is_that_of_the_library_s_bodies(self, axes):
        # Path 2 between its jumps; differences of eighth order at 5 ms leave about 1e-13 of omega.
        trajectory, t0 = Published(name="pedrammehr-path-2"), 1.7
        model = pedrammehr_cases.model(axes)

        def turned(t: float) -> Any:
            bodies = model.bodies(trajectory.at(t0 + t).pose)
            return np.array([bodies[f"{leg}.lower"][:3, :3] for leg in model.legs])

        spin = derivative(turned, 5e-3) @ turned(0.0).swapaxes(-1, -2)
        seen = np.stack([spin[:, 2, 1], spin[:, 0, 2], spin[:, 1, 0]], axis=-1)
        at = trajectory.at(np.array([t0]))
        k = pedrammehr_printed.pods(pedrammehr_cases.parameters(axes), Platform.of(at))
        assert_close(k.omega, seen[None], 1e-10)

    @pytest.mark.parametrize("axes", pedrammehr_cases.AXES)
    def test_corrected_inertia_is_what_the_pod_asks_for(self, axes):
        """(40) is linear in the platform's acceleration: its columns are differences of unit size, without error."""
        p = pedrammehr_cases.parameters(axes)
        still = pedrammehr_cases.motion(3)
        still = still._replace(acceleration=np.zeros_like(still.acceleration))

        def asked(acceleration: Any) -> Any:
            at = Platform.of(still._replace(acceleration=still.acceleration + acceleration))
            return pedrammehr_printed.passive_force(p, pedrammehr_printed.pods(p, at), at, pedrammehr_printed.CORRECTED)

        columns = [asked(np.eye(6)[j]) - asked(np.zeros(6)) for j in range(3)]
        got = pedrammehr_compact.corrected_inertia(p, pedrammehr_cases.pods(axes, 3))
        # differences of forces of some 10 N to inertias of some kg
        assert_close(got, np.stack(columns, axis=-1), 1e-11)

    @pytest.mark.parametrize("axes", pedrammehr_cases.AXES)
    def test_compact_form_is_right_for_axisymmetric_pods_but_for_its_slips(self, axes):
        """(41)-(43) with their slips fixed are (40) where the paper's derivation holds: on-axis, axisymmetric pods."""
        p, at = pedrammehr_cases.parameters(axes, slender=True), Platform.of(pedrammehr_cases.motion(3))
        k = pedrammehr_printed.pods(p, at)
        inertia = pedrammehr_compact.printed_inertia(p, k, shifted=False)
        assert_close(inertia, pedrammehr_compact.corrected_inertia(p, k), ROUNDING)
        tip = at.acceleration + cross(at.alpha, k.q)
        compact = times(inertia, tip) + pedrammehr_compact.printed_rest(p, k, at, rate=True, corrected=True)
        wanted = pedrammehr_printed.passive_force(p, k, at, pedrammehr_printed.CORRECTED)
        assert_close(compact, wanted, ROUNDING)

    def test_classic_model_is_the_library_s_no_spin_model(self):
        _, pose, twist, acceleration = pedrammehr_cases.motion(3)
        from polypod import Model

        model = Model(pedrammehr_cases.robot("tangential"), simplify="no-spin")
        wanted = model.inverse_dynamics(pose, twist, acceleration, formulation="newton-euler")
        assert_close(pedrammehr_cases.forces("tangential", 3, "classic"), wanted, ROUNDING)


class TestKimRyu:
    STATES = golden("kim-ryu")

    @pytest.mark.parametrize("state", STATES, ids=("at rest", "moving"))
    def test_forces_are_golden(self, state):
        at, wrench = motion_of(state), np.array(state["wrench"])
        for axes, spin, moment, wanted in (
            ("horizontal", True, "c", state["force"]),
            ("rail", True, "c", state["variants"]["full_alpha_along_rail"]),
            ("horizontal", False, "n", state["variants"]["paper_slender_no_spin"]),
        ):
            p = kim_ryu_cases.parameters(axes).only()
            got = kim_ryu_printed.forces(p, at, spin=spin, moment=moment, wrench=wrench)
            assert_close(got.tau, [wanted], ROUNDING)

    @pytest.mark.parametrize("state", STATES, ids=("at rest", "moving"))
    def test_reactions_are_golden(self, state):
        p = kim_ryu_cases.parameters().only()
        got = kim_ryu_printed.forces(p, motion_of(state), spin=True, moment="c", wrench=np.array(state["wrench"]))
        for name in ("F_A", "F_B", "N"):
            assert_close(getattr(got, name), [state["reactions"][name]], ROUNDING)

    def test_sliders_and_links_are_golden(self):
        state = self.STATES[1]
        k = kim_ryu_printed.legs(kim_ryu_cases.parameters(), Platform.of(motion_of(state)), spin=True)
        for got, name in ((k.place, "q"), (k.rate, "qdot"), (k.acceleration, "qddot")):
            assert_close(got[..., 0], [state[name]], ROUNDING)
        assert_close(k.omega, [state["link_omega"]], ROUNDING)

    def test_implicit_friction_is_golden(self):
        state = self.STATES[1]
        wanted = state["friction"]["friction"]["abs"]["tau_implicit"]
        p, wrench = kim_ryu_cases.parameters(), np.array(state["wrench"])
        got = kim_ryu_printed.forces(p, motion_of(state), spin=True, moment="c", wrench=wrench)
        assert_close(got.tau, [wanted], ROUNDING)

    @pytest.mark.parametrize("rpm", mostly_long([20, 60, 0], [20]))
    @pytest.mark.parametrize("axes", mostly_long(kim_ryu_cases.AXES, ["rail"]))
    @pytest.mark.parametrize(("name", "explicit"), [("exact", False), ("explicit", True)])
    def test_friction_is_that_of_the_library(self, rpm, axes, name, explicit):
        p, at = kim_ryu_cases.parameters(axes), kim_ryu_cases.motion(rpm)
        got = kim_ryu_printed.forces(p, at, spin=True, moment="c", explicit=explicit).tau
        assert_close(got, kim_ryu_cases.exact(rpm, axes, name, friction=True), ROUNDING)

    def test_implicit_friction_solves_its_problem(self):
        """Reactions give friction, and that friction gives the same reactions."""
        p, at = kim_ryu_cases.parameters(), Platform.of(kim_ryu_cases.motion(40))
        k = kim_ryu_printed.legs(p, at)
        found = kim_ryu_printed.forces(p, kim_ryu_cases.motion(40))
        again = kim_ryu_printed.solve(p, at, k, kim_ryu_printed.friction(p, at, k, found))
        for one, two in zip(found, again, strict=True):
            assert_close(one, two, ROUNDING)

    def test_the_link_s_moment_is_along_alpha_times_beta(self):
        for axes in kim_ryu_cases.AXES:
            k = kim_ryu_printed.legs(kim_ryu_cases.parameters(axes), Platform.of(kim_ryu_cases.motion(40)), spin=True)
            assert np.abs(dot(k.omega, k.c)).max() < ROUNDING

    @pytest.mark.parametrize("axes", kim_ryu_cases.AXES)
    def test_link_acceleration_is_the_rate_of_its_velocity(self, axes):
        trajectory, p = Published(name="kim-ryu-acceleration"), kim_ryu_cases.parameters(axes)

        def spun(t: float) -> kim_ryu_printed.Legs:
            return kim_ryu_printed.legs(p, Platform.of(trajectory.at(np.array([1.0 + t]))), spin=True)

        # eighth order at 10 ms: below the rounding of the differences
        assert_close(spun(0.0).omegadot, derivative(lambda t: spun(t).omega, 1e-2), 1e-11)
        assert_close(spun(0.0).acceleration, derivative(lambda t: spun(t).rate, 1e-2), 1e-11)

    def test_euler_angles(self):
        """(1)-(3) corrected, by differences of R along a quadratic path of the angles."""
        angles, rates, second = np.array([0.1, -0.08, 0.15]), np.array([0.4, -0.7, 0.9]), np.array([1.0, 2.0, -3.0])

        def path(t: float) -> Any:
            return angles + rates * t + second * t * t / 2

        spin = derivative(lambda t: rotation(path(t)), 1e-2) @ rotation(angles).T
        omega = angular_velocity(angles, rates)
        assert_close([omega], [[spin[2, 1], spin[0, 2], spin[1, 0]]], 1e-11)
        seen = derivative(lambda t: angular_velocity(path(t), rates + second * t), 1e-2)
        omegadot = angular_acceleration(angles, rates, second)
        assert_close([omegadot], [seen], 1e-11)
        assert_close([euler_rates(angles, omega)], [rates], ROUNDING)
        assert_close([euler_accelerations(angles, rates, omegadot)], [second], ROUNDING)
