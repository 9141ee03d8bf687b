"""Robots as Pinocchio trees with loop closures; shares nothing but data with polypod's own mechanics."""

from bench.peers.pinocchio.oracle import ImpossibleError, OpenTree, Oracle

__all__ = ["ImpossibleError", "OpenTree", "Oracle"]
