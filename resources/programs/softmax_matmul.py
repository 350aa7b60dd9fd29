from __future__ import annotations
import numpy as np


# Softmax of each row, then a matrix product.
def softmax_matmul(x: f32[M, K], w: f32[K, N]) -> f32[M, N]:
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return (e / np.sum(e, axis=-1, keepdims=True)) @ w
