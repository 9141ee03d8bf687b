"""Mutated robot and motion files by the thousand; ``python -m fuzz --help`` from the folder of the tests."""
