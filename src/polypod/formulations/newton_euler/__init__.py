"""Newton-Euler: free bodies and every joint's reaction (Kim-Ryu, Pedrammehr)."""

from .dynamics import (
    balance,
    closed_form,
    flexible_wrenches,
    inverse_dynamics,
    joint_wrenches,
    platform_balance,
    reactions,
)
from .overconstrained import balance as general_balance

__all__ = [
    "balance",
    "closed_form",
    "flexible_wrenches",
    "general_balance",
    "inverse_dynamics",
    "joint_wrenches",
    "platform_balance",
    "reactions",
]
