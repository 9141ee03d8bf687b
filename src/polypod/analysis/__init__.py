"""What a model tells beyond one state: linearisation, natural modes; the home of maps and workspaces."""
