from __future__ import annotations
import numpy as np


# Logarithm of the softmax of each row.
def log_softmax(x: f32[M, N]) -> f32[M, N]:
    s = x - np.max(x, axis=-1, keepdims=True)
    return s - np.log(np.sum(np.exp(s), axis=-1, keepdims=True))
