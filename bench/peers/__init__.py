"""The same robots in other engines, from data alone: for comparing answers and times, never for computing them."""
