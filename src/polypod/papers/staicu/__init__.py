"""Staicu et al.: three degrees of freedom, recursive matrices."""
