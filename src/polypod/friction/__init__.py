"""Friction of joints: its data at a state, its laws, and loads found together with the reactions they depend on."""
