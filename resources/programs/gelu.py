from __future__ import annotations
import numpy as np


# Gaussian error linear unit in its tanh form; the constant is sqrt(2 / pi).
def gelu(x: f32[M, N]) -> f32[M, N]:
    inner = 0.7978845608028654 * (x + 0.044715 * x ** 3)
    return 0.5 * x * (1 + np.tanh(inner))
