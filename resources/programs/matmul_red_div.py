from __future__ import annotations
import numpy as np


# Rows divided by the row sums of another matrix, then a matrix product.
def matmul_red_div(x: f32[M, K], y: f32[M, L], w: f32[K, N]) -> f32[M, N]:
    assert np.all(np.sum(y, axis=-1) != 0)
    return (x / np.sum(y, axis=-1, keepdims=True)) @ w
