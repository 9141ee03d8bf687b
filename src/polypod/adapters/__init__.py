"""Functions of a model for libraries that differentiate programs: compiled forward, compiled backward."""

from .differentiable import Differentiable

__all__ = ["Differentiable"]
