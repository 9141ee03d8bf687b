"""Newton-Euler: free bodies and every joint's reaction (Kim-Ryu, Pedrammehr)."""

from .dynamics import balance, closed_form, flexible_wrenches, inverse_dynamics, joint_wrenches, reactions

__all__ = ["balance", "closed_form", "flexible_wrenches", "inverse_dynamics", "joint_wrenches", "reactions"]
