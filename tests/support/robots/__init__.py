"""Robots to test with: random ones, small ones with answers by hand, machines, and legs of users' own."""
