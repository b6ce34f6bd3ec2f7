"""A kernel of Numba for the debugger: half of the lanes take a branch."""
from numba import cuda
import numpy as np


@cuda.jit(debug=True, opt=False)
def scale(x, out, f):
    i = cuda.grid(1)
    if i < x.size:
        y = x[i] * f
        if i % 2:
            y = y + 1.0
        out[i] = y


x = np.arange(64, dtype=np.float32)
out = np.zeros(64, dtype=np.float32)
scale[2, 32](x, out, 2.0)
print(out[:6])
