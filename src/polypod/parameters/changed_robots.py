"""The robot with other numbers; see ``polypod.parameters.design``."""

from .design import with_numbers

__all__ = ["with_numbers"]
