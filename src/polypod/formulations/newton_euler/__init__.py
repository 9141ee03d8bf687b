"""Newton-Euler: free bodies and every joint's reaction (Kim-Ryu, Pedrammehr)."""

from .dynamics import balance, closed_form, inverse_dynamics, joint_axes, joint_wrenches, leg_wrenches, reactions

__all__ = ["balance", "closed_form", "inverse_dynamics", "joint_axes", "joint_wrenches", "leg_wrenches", "reactions"]
