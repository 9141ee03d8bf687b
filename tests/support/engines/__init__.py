"""Engines that share no code with polypod; README.md says which is the truth of what."""
