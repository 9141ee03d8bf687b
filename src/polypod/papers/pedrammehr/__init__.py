"""Pedrammehr et al.: the general 6-UPS robot."""
