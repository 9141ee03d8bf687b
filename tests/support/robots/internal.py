"""A planar robot one of whose legs rides on a rail: an internal coordinate."""

from __future__ import annotations

from functools import cache

import polypod as pp
from polypod.files import loads

PLANAR = """name: planar robot on a rail
platform: {mass: 1.0, inertia: [0.01, 0.01, 0.02]}
gravity: [0, -9.81, 0]
dof: [x, y, yaw]
internal: [{name: rail, joint: leg1.rail}]
legs:
- name: leg1
  kind: chain
  bodies:
    cart: {mass: 0.5, com: [0.5, 0, 0], inertia: [0.001, 0.001, 0.001]}
    a: {mass: 0.3, com: [0.45, 0.1, 0], inertia: [0.001, 0.001, 0.002]}
    b: {mass: 0.2, com: [0.25, 0.1, 0], inertia: [0.001, 0.001, 0.002]}
  joints:
  - {name: rail, kind: prismatic, between: [base, cart], at: [0.5, 0, 0], axis: [0, 1, 0], actuated: true, rotor: 0.3}
  - {name: motor, kind: revolute, between: [cart, a], at: [0.5, 0, 0], axis: [0, 0, 1], actuated: true}
  - {name: elbow, kind: revolute, between: [a, b], at: [0.4, 0.2, 0], axis: [0, 0, 1], friction: {viscous: 0.1}}
  - {name: wrist, kind: revolute, between: [b, platform], at: [0.1, 0, 0], axis: [0, 0, 1]}
- name: arm
  kind: chain
  copies: {angles: [120 deg, 240 deg], about: [0, 0, 1]}
  bodies:
    a: {mass: 0.3, com: [0.45, 0.1, 0], inertia: [0.001, 0.001, 0.002]}
    b: {mass: 0.2, com: [0.25, 0.1, 0], inertia: [0.001, 0.001, 0.002]}
  joints:
  - {name: motor, kind: revolute, between: [base, a], at: [0.5, 0, 0], axis: [0, 0, 1], actuated: true}
  - {name: elbow, kind: revolute, between: [a, b], at: [0.4, 0.2, 0], axis: [0, 0, 1]}
  - {name: wrist, kind: revolute, between: [b, platform], at: [0.1, 0, 0], axis: [0, 0, 1]}
"""


@cache
def planar() -> pp.Model:
    return pp.Model(loads(PLANAR))
