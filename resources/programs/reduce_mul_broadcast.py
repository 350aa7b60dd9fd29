from __future__ import annotations
import numpy as np


# Rows scaled by the row sums of another matrix, then a matrix product.
def reduce_mul_broadcast(x: f32[M, K], y: f32[M, L], w: f32[K, N]) -> f32[M, N]:
    return (x * np.broadcast_to(np.sum(y, axis=-1, keepdims=True), x.shape)) @ w
