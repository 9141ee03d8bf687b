"""Makes the pictures of the README and the guide from the library itself: python3 docs/make_images.py"""

from __future__ import annotations

from pathlib import Path

from polypod import Model, plots
from polypod.motions import make_task
from polypod.study import study

IMAGES = Path(__file__).parent / "images"


def main() -> None:
    """Write docs/images/kim-ryu.png: robot and forces on the circle of the paper's figure 7."""
    IMAGES.mkdir(exist_ok=True)
    model = Model("kim-ryu")
    plots.cover(study(model, make_task(model))).savefig(IMAGES / "kim-ryu.png", dpi=110)


if __name__ == "__main__":
    main()
