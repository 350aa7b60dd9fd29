from __future__ import annotations
import numpy as np


# One step of the Adam optimiser; c1 and c2 are the bias corrections 1 - 0.9**t and 1 - 0.999**t.
def adam_step(p: f32[M, N], g: f32[M, N], m: f32[M, N], v: f32[M, N], lr: f32, c1: f32, c2: f32):
    assert np.all(v >= 0)
    assert c1 > 0
    assert c2 > 0
    m1 = 0.9 * m + 0.1 * g
    v1 = 0.999 * v + 0.001 * g * g
    p1 = p - lr * (m1 / c1) / (np.sqrt(v1 / c2) + 1e-8)
    return p1, m1, v1
