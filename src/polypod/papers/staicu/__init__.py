"""Staicu et al.: three freedoms, recursive matrices."""
