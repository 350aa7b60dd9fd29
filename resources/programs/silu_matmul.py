from __future__ import annotations
import numpy as np


# Sigmoid linear unit before a matrix product.
def silu_matmul(x: f32[M, K], w: f32[K, N]) -> f32[M, N]:
    return (x / (1 + np.exp(-x))) @ w
