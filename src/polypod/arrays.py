"""The type of nearly every array: double precision, of any shape; docstrings state shapes."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
