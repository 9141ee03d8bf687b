"""Studies: a robot, a task, and all that follows from the two."""

from .dataset import dataset, write_netcdf
from .study import PARTS, Reaction, Study, study

__all__ = ["PARTS", "Reaction", "Study", "dataset", "study", "write_netcdf"]
