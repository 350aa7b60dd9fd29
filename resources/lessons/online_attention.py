from __future__ import annotations
import numpy as np


# One key at a time: a running maximum m, a running denominator l, a running result o.
def online_attention(q: f32[M, D], k: f32[N, D], v: f32[N, E]) -> f32[M, E]:
    M, D = q.shape
    N, E = v.shape
    m = np.full((M, 1), -np.inf)
    l = np.zeros((M, 1))
    o = np.zeros((M, E))
    for j in range(N):
        s = q @ k[j:j + 1].T / np.sqrt(D)
        mj = np.maximum(m, s)
        c = np.exp(m - mj)
        p = np.exp(s - mj)
        l = l * c + p
        o = o * c + p * v[j:j + 1]
        m = mj
    return o / l
