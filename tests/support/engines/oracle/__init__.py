"""An independent oracle: the robots as Pinocchio trees with loop closures, sharing only data with polypod."""

from bench.peers.pinocchio import ImpossibleError, OpenTree, Oracle

from .sampling import State, states, with_random_bodies

__all__ = ["ImpossibleError", "OpenTree", "Oracle", "State", "states", "with_random_bodies"]
