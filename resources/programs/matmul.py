from __future__ import annotations
import numpy as np


# Matrix product.
def matmul(a: f32[M, K], b: f32[K, N]) -> f32[M, N]:
    return a @ b
