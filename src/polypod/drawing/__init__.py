"""What a robot looks like: shapes of its bodies at poses, one way for figures, films, pages, exports and clearances.

``shapes_of(robot)`` gives every body's shapes in the body's own frame: what its file states (``radius``, ``shapes``),
else bars between its joints, telescopes, carriages on rails, plates through the joints of base and platform.
``posed(robot, poses)`` puts them where the bodies are.
"""

from .posed import PosedRobot, posed
from .samples import BASE, PLATFORM, Samples
from .shapes import COLOURS, Shape, drawn_shapes, shapes_of

__all__ = ["BASE", "COLOURS", "PLATFORM", "PosedRobot", "Samples", "Shape", "drawn_shapes", "posed", "shapes_of"]
