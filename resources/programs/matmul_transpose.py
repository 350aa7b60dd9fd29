from __future__ import annotations
import numpy as np


# Product with the right matrix transposed.
def matmul_transpose(a: f32[M, K], b: f32[N, K]) -> f32[M, N]:
    return a @ b.T
