from __future__ import annotations
import numpy as np


def biased_matmul(x: f32[M, K], b: f32[M, 1], w: f32[K, N]) -> f32[M, N]:
    return x @ w + b * np.sum(w, axis=0)
