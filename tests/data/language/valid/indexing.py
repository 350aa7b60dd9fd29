from __future__ import annotations
import numpy as np


def indexing(x: f32[M, N, 4], y: f32[M, N]):
    M, N = y.shape
    first = x[0]
    last = x[-1, :, 1:]
    plane = x[:, :, 2]
    tail = y[..., -1:]
    column = y[:, None, 0]
    middle = x[:, None, :, 1:-1]
    whole = y[:]
    part = y[0:M, 0:N]
    element = y[0, 0]
    return first, last, plane, tail, column, middle, whole, part, element
