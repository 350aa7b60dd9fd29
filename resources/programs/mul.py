from __future__ import annotations
import numpy as np


# Elementwise product.
def mul(x: f32[M, N], y: f32[M, N]) -> f32[M, N]:
    return x * y
