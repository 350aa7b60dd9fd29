from __future__ import annotations
import numpy as np


# Two-layer perceptron with a rectified hidden layer.
def relu_mlp(x: f32[M, K], w1: f32[K, H], w2: f32[H, N]) -> f32[M, N]:
    return np.maximum(x @ w1, 0) @ w2
