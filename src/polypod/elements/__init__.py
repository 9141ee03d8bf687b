"""Forces between bodies, one file a kind: each states its force law, and its potential where it has one."""

from .brake import Brake
from .bushing import Bushing
from .constant_force import ConstantForce
from .damper import Damper
from .element import Element
from .gas_spring import GasSpring
from .spring import Spring
from .stop import Stop

__all__ = ["Brake", "Bushing", "ConstantForce", "Damper", "Element", "GasSpring", "Spring", "Stop"]
