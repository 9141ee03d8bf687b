"""A compiled function and its block as a function of Python without arguments, as fast to call as those built in.

``ctypes`` turns arguments and results into C and back at every call, which takes a fifth of the time of inverse
dynamics. A function built into Python is a C function of one object: here a few instructions read from it, a plain
number, where function and block are, call one with the other, and give None.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from . import machine
from .text import Module

_POINTER_OF, _INCREASE = "polypod_pointer_of", "polypod_increase"
_CODE = f"""
declare ptr @{_POINTER_OF}(ptr)
declare void @{_INCREASE}(ptr)
define ptr @builtin(ptr %self, ptr %none) {{
  %words = call ptr @{_POINTER_OF}(ptr %self)
  %function = load ptr, ptr %words
  %second = getelementptr inbounds i64, ptr %words, i64 1
  %block = load ptr, ptr %second
  call void %function(ptr %block)
  %third = getelementptr inbounds i64, ptr %words, i64 2
  %nothing = load ptr, ptr %third
  call void @{_INCREASE}(ptr %nothing)
  ret ptr %nothing
}}
"""
_NO_ARGUMENTS = 0x0004  # METH_NOARGS of Python's C interface


class _Method(ctypes.Structure):
    """PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("about", ctypes.c_char_p),
    )


def without_arguments(function: int, block: int) -> tuple[Callable[[], None], object]:
    """What calls the function at one address with a block at another, and what must live as long.

    The call keeps the interpreter to itself: to let other threads run and come back takes longer than a short one.
    """
    words = np.array([function, block, id(None)], dtype=np.uint64)
    method, new_function, linked = _method()
    return new_function(ctypes.byref(method), words.ctypes.data, None), (words, method, linked)


@cache
def _method() -> tuple[_Method, Any, machine.Linked]:
    """The entry for Python, what makes an object of it, and the code, which is kept with the kernels."""
    python = ctypes.pythonapi
    machine.name_address(_POINTER_OF, python.PyLong_AsVoidPtr)
    machine.name_address(_INCREASE, python.Py_IncRef)
    key = machine.key_of(_CODE.encode(), 1)
    compiled = machine.load(key)
    if compiled is None:
        module = Module()
        module.add(_CODE)
        compiled = machine.Compiled({}, machine.compile_module(module))
        machine.keep(key, compiled)
    linked = machine.Linked(compiled.code)
    new_function = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)(
        ("PyCFunction_NewEx", python)
    )
    return _Method(b"kernel", linked.address("builtin"), _NO_ARGUMENTS, None), new_function, linked
