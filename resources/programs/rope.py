from __future__ import annotations
import numpy as np


# Rotary position embedding: the two halves of each row are rotated against each other.
def rope(x: f32[S, 2 * H], cos: f32[S, H], sin: f32[S, H]) -> f32[S, 2 * H]:
    H = cos.shape[1]
    a = x[:, :H]
    b = x[:, H:]
    return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=1)
