from __future__ import annotations
import numpy as np


# Layer normalisation of each row with gain and bias.
def layernorm(x: f32[M, N], g: f32[N], b: f32[N]) -> f32[M, N]:
    mean = np.mean(x, axis=-1, keepdims=True)
    var = np.var(x, axis=-1, keepdims=True)
    return (x - mean) / np.sqrt(var + 1e-5) * g + b
