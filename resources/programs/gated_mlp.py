from __future__ import annotations
import numpy as np


def silu(x):
    return x / (1 + np.exp(-x))


# Gated perceptron of Llama: w1 is the gate, w2 the up and w3 the down projection.
def gated_mlp(x: f32[M, K], w1: f32[K, H], w2: f32[K, H], w3: f32[H, K]) -> f32[M, K]:
    return (silu(x @ w1) * (x @ w2)) @ w3
