from __future__ import annotations
import numpy as np


def softmax(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


# Scaled dot-product attention of one head.
def attention(q: f32[M, D], k: f32[N, D], v: f32[N, E]) -> f32[M, E]:
    D = q.shape[1]
    return softmax(q @ k.T / np.sqrt(D)) @ v
