"""``python -m polypod``: the command line."""

from .cli import main

main()
