"""The interactive page of a robot with internal coordinates, in a real browser."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

import polypod as pp
from polypod.motion import loads_motion
from support.browser import Browser, needs_browser
from support.robots.internal import planar

MOTION = """name: sway
rate: 20
trajectory: {kind: coordinates, path: {kind: sine, amplitude: [30 mm, 20 mm, 10 deg], frequency: 1, duration: 1}}
internal: {kind: sine, amplitude: [40 mm], frequency: 2, duration: 1}
"""
STATE = "JSON.stringify((s => ({pose: [...s.pose], q: [...s.q], force: [...s.force]}))(polypod.state))"


@needs_browser
def test_sliders_and_motions_move_internal_coordinates(browser: Browser, tmp_path: Path) -> None:
    """Forces at rest with the rail moved, and those of an instant of a motion, are the model's; an actuator's slider
    finds rail and pose."""
    model = planar()
    page = pp.view(model, loads_motion(MOTION)).save(tmp_path / "page.html")
    browser.open(page, False)
    browser.wait_for(lambda: browser.ask("Boolean(window.polypod)"))
    browser.ask("polypod.home(); polypod.setInternal(0, 0.03)")
    found, still = json.loads(browser.ask(STATE)), np.zeros(7)
    wanted = model.inverse_dynamics(model.home, still, still, internal=[0.03])
    np.testing.assert_allclose(found["force"], wanted, atol=1e-10)
    np.testing.assert_allclose(found["q"], model.inverse_kinematics(model.home, internal=[0.03]), atol=1e-12)
    browser.ask("polypod.setInstant(3)")
    found, result = json.loads(browser.ask(STATE)), pp.study(model, loads_motion(MOTION))
    np.testing.assert_allclose(found["force"], result["force"].values[3], atol=1e-9)
    np.testing.assert_allclose(found["q"], result["q"].values[3], atol=1e-12)
    q = result["q"].values[3] + [0.01, 0.0, 0.0, 0.0]
    browser.ask(f"polypod.setActuator(0, {float(q[0])!r})")
    found = json.loads(browser.ask(STATE))
    np.testing.assert_allclose(found["q"], q, atol=1e-10)
    met = model.forward_kinematics(q, full_output=True)
    np.testing.assert_allclose(np.reshape(found["pose"], (4, 4)), met.pose, atol=1e-10)
    browser.ask("location.hash = '#x=0.01,0,0,0.02'")
    browser.wait_for(lambda: abs(browser.ask("polypod.state.q[0]") - 0.02) < 1e-12)
    assert browser.ask("polypod.state.pose[3]") == 0.01
    labels = browser.ask("[...document.querySelectorAll('#coordinates .name')].map(e => e.innerText).join(' ')")
    assert labels == "x y yaw rail"
    assert browser.complaints == []
