"""Newton-Euler: free bodies and every joint's reaction (Kim-Ryu, Pedrammehr)."""

from .closed_form import balance, has_closed_form, platform_balance
from .dynamics import flexible_wrenches, inverse_dynamics, joint_wrenches, reactions
from .general import GeneralBalance, general_balance

__all__ = [
    "GeneralBalance",
    "balance",
    "flexible_wrenches",
    "general_balance",
    "has_closed_form",
    "inverse_dynamics",
    "joint_wrenches",
    "platform_balance",
    "reactions",
]
