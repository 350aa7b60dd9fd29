from __future__ import annotations
import numpy as np


# Softmax of each row, shifted by the row's maximum.
def softmax(x: f32[M, N]) -> f32[M, N]:
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)
