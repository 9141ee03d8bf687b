"""What is derived from an object, computed when first asked for and kept with it."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Generic, Self, TypeVar, overload

Value = TypeVar("Value")


class lazy(Generic[Value]):  # noqa: N801
    """A property whose value is kept, as ``functools.cached_property``, without a lock.

    That of Python 3.11 holds one for all objects of a class while a value is computed: threads that compile different
    robots would wait for each other, and a child of a fork for a thread that it does not have.
    """

    def __init__(self, compute: Callable[[Any], Value]) -> None:
        self._compute, self.__doc__ = compute, compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type) -> Value: ...

    def __get__(self, instance: object | None, owner: type) -> Self | Value:
        if instance is None:
            return self
        value = self._compute(instance)
        instance.__dict__[self._name] = value
        return value


class Kept:
    """What other packages derive from an object, kept as long as the object is."""

    def __init__(self) -> None:
        self._kept: dict[Hashable, Any] = {}

    def kept(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """Value that is computed once and kept with the object.

        Parameters
        ----------
        key : hashable
            Key of the value; starts with the name of the module that asks.
        make : callable
            Computes the value.

        Returns
        -------
        object
            The value.
        """
        if key not in self._kept:
            self._kept[key] = make()
        value: Value = self._kept[key]
        return value
