"""How a platform can move on its legs, found in numbers when a robot is built."""
