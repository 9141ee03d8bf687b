"""Studies: a robot, a task, and all that follows from the two."""

from .dataset import dataset, write_netcdf
from .flexible import Bending
from .study import BENDING, PARTS, Reaction, Study, study

__all__ = ["BENDING", "PARTS", "Bending", "Reaction", "Study", "dataset", "study", "write_netcdf"]
