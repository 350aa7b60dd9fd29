from __future__ import annotations
import numpy as np


# Product with the left matrix transposed.
def transpose_matmul(a: f32[K, M], b: f32[K, N]) -> f32[M, N]:
    return a.T @ b
