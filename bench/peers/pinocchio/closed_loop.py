"""Pinocchio's closed loop compiled from C++ on this machine (closed_loop.cpp); robots on six legs of three joints."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

from bench.peers.pinocchio.closures import CoincidentPoints
from bench.peers.pinocchio.oracle import Oracle
from bench.peers.pinocchio.tree import Array

_EIGEN = ("/usr/include/eigen3", "/usr/local/include/eigen3")


class MissingError(RuntimeError):
    """What is needed to compile it."""


class ClosedLoop:
    """Forces of the actuators for states of the tree; the legs' coordinates are found beforehand."""

    def __init__(self, oracle: Oracle) -> None:
        if len(oracle.chains) != 6 or any(
            len(c.joints) != 3 or len(c.closures) != 1 or not isinstance(c.closures[0], CoincidentPoints)
            for c in oracle.chains
        ):
            raise MissingError("written for six legs of three joints that end in balls")
        self._library = ctypes.CDLL(str(_compiled()))
        self._library.robot_new.restype = ctypes.c_void_p
        numbers = []
        for c in oracle.chains:
            points, first = c.closures[0], oracle.model.joints[c.joints[0]].idx_v
            assert isinstance(points, CoincidentPoints)
            numbers += [*points.frames, first, oracle.model.joints[c.actuated].idx_v]
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "tree.txt"
            oracle.model.saveToText(str(file))
            legs = ctypes.c_long(6), (ctypes.c_long * 24)(*numbers)
            self._robot = ctypes.c_void_p(self._library.robot_new(str(file).encode(), *legs))

    def bound(self, states: list[Any]) -> tuple[Any, Array]:
        """A call for states (:class:`.oracle.OpenTree`) one after the other, and the forces (n, 6) it writes."""
        q = np.array([s.q for s in states])
        head, rate = (np.ascontiguousarray([getattr(s, name)[:6] for s in states]) for name in ("v", "a"))
        force = np.empty((len(states), 6))
        pointers = [ctypes.c_void_p(a.ctypes.data) for a in (q, head, rate, force)]
        call, robot, n, kept = self._library.robot_many, self._robot, ctypes.c_long(len(states)), (q, head, rate)

        def run() -> object:
            call(robot, n, *pointers)
            return kept

        return run, force


def _compiled() -> Path:
    prefix = next((p for p in Path(pin.__file__).parents if p.name == "cmeel.prefix"), None)
    eigen = next((folder for folder in _EIGEN if Path(folder).is_dir()), None)
    if prefix is None or eigen is None or shutil.which("g++") is None:
        raise MissingError("g++, Eigen's headers and those of Pinocchio's wheel are needed")
    out = Path(tempfile.mkdtemp(prefix="polypod-bench-")) / "closed_loop.so"
    source = Path(__file__).with_suffix(".cpp")
    flags = ["-O3", "-march=native", "-DNDEBUG", "-std=c++17", "-fPIC", "-shared", "-w"]
    # as many kinds of joints as Pinocchio has
    flags += ["-DBOOST_MPL_LIMIT_LIST_SIZE=30", "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS"]
    flags += ["-DBOOST_FUSION_INVOKE_MAX_ARITY=10"]
    where = [f"-I{prefix}/include", f"-I{eigen}", f"-L{prefix}/lib", f"-Wl,-rpath,{prefix}/lib"]
    done = subprocess.run(
        ["g++", *flags, str(source), "-o", str(out), *where, "-lboost_serialization"], capture_output=True, text=True
    )
    if done.returncode:
        raise MissingError(f"closed_loop.cpp does not compile here: {done.stderr.splitlines()[0]}")
    return out
