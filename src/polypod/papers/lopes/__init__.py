"""Lopes: Lagrange, complete and simplified."""
