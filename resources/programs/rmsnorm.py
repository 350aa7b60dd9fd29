from __future__ import annotations
import numpy as np


# Root-mean-square normalisation of each row with a gain.
def rmsnorm(x: f32[M, N], g: f32[N]) -> f32[M, N]:
    ms = np.mean(x * x, axis=-1, keepdims=True)
    return x / np.sqrt(ms + 1e-5) * g
