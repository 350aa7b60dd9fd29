from __future__ import annotations
import numpy as np


# Root-mean-square normalisation with a gain, then a projection.
def rmsnorm_matmul(x: f32[M, K], g: f32[K], w: f32[K, N]) -> f32[M, N]:
    ms = np.mean(x * x, axis=-1, keepdims=True)
    return (x / np.sqrt(ms + 1e-5) * g) @ w
