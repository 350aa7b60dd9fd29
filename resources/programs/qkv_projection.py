from __future__ import annotations
import numpy as np


# Queries, keys and values of one input.
def qkv_projection(x: f32[M, K], wq: f32[K, N], wk: f32[K, P], wv: f32[K, P]):
    q = x @ wq
    k = x @ wk
    v = x @ wv
    return q, k, v
