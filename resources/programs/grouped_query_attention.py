from __future__ import annotations
import numpy as np


def softmax(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


# G query heads share each of the H heads of keys and values.
def grouped_query_attention(q: f32[H, G, M, D], k: f32[H, N, D], v: f32[H, N, E]) -> f32[H, G, M, E]:
    D = q.shape[-1]
    keys = np.swapaxes(k, -1, -2)[:, None]
    return softmax(q @ keys / np.sqrt(D)) @ v[:, None]
