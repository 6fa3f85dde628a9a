"""Names for arrays, by what is in them."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]
Places: TypeAlias = NDArray[np.intp]  # indices into arrays
Booleans: TypeAlias = NDArray[np.bool_]
