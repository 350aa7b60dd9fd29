from __future__ import annotations
import numpy as np


# Sigmoid linear unit, x * sigmoid(x).
def silu(x: f32[M, N]) -> f32[M, N]:
    return x / (1 + np.exp(-x))
