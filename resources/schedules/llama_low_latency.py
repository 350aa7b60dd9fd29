#!/usr/bin/env python3
"""A decode step of a Llama-like model as a low-latency megakernel with seven fused operations, for every position:

1 NORM_QKV_ROPE_APPEND  norm of h, a tile of Q, K and V rows, rotary embedding, the K and V rows appended to the cache
2 PARTIAL_ATTENTION     one KV head over one part of the cache
3 ATTENTION_REDUCTION   the parts of one KV head
4 O_PROJ_RESIDUAL       a tile of the output projection, added to h in place
5 NORM_UP_GATE_SILU     norm of h, a tile of up and gate
6 DOWN_RESIDUAL         a tile of the down projection, added to h in place
7 NORM_LM_HEAD          norm of h, a tile of the vocabulary

    python3 llama_low_latency.py out.json [layers]     then: nuscope check out.json
"""
import sys

from nuscope_schedule import Schedule, least, pos


def main(path, layers=2, sms=132, hidden=2048, heads=32, kv_heads=8, dim=64, ffn=8192, vocab=128256, rows=8192, parts=4):
    s = Schedule(sms=sms, positions=(0, rows))
    turn = [0]

    def sm():
        turn[0] += 1
        return (turn[0] - 1) % sms

    def weight(name, n, k):
        return s.buffer(name, "WEIGHT", "BF16", [n, k], source=name)

    def tiles(n, width):
        return [(a, min(a + width, n)) for a in range(0, n, width)]

    token = s.buffer("token", "IO_INPUT", "I32", [1])
    table = weight("embed", vocab, hidden)
    h = s.buffer("h", "ACTIVATION", "F32", [1, hidden])
    logits = s.buffer("logits", "IO_OUTPUT", "F32", [1, vocab])
    ready, count = s.counter("h: embedding"), 1  # what a reader of h waits for
    s.task("EMBED", sm=sm(), reads=[token, table], writes=[h], signals=[ready], est_bytes=2 * hidden)
    group = heads // kv_heads
    for layer in range(layers):
        def name(what):
            return f"L{layer}.{what}"
        k_cache = s.buffer(name("k"), "KV_CACHE", "BF16", [rows, kv_heads, dim])
        v_cache = s.buffer(name("v"), "KV_CACHE", "BF16", [rows, kv_heads, dim])
        q = s.buffer(name("q"), "ACTIVATION", "F32", [kv_heads, group * dim])
        partial = s.buffer(name("partial"), "ACTIVATION", "F32", [parts, kv_heads, group * (dim + 2)])
        attention = s.buffer(name("attention"), "ACTIVATION", "F32", [1, heads * dim])
        act = s.buffer(name("act"), "ACTIVATION", "F32", [1, ffn])
        qkv = weight(name("qkv"), (heads + 2 * kv_heads) * dim, hidden)
        attended = s.counter(name("attention"))
        for head in range(kv_heads):
            projected, reduced = s.counter(name(f"qkv[h{head}]")), s.counter(name(f"parts[h{head}]"))
            s.task("NORM_QKV_ROPE_APPEND", sm=sm(), label=name(f"qkv[h{head}]"), reads=[h, qkv],
                   writes=[q[head], k_cache[pos:pos + 1, head], v_cache[pos:pos + 1, head]],
                   waits=[(ready, count)], signals=[projected], est_bytes=2 * (group + 2) * dim * hidden,
                   est_flops=2 * (group + 2) * dim * hidden)
            for part in range(parts):
                first, end = rows // parts * part, rows // parts * (part + 1)
                window = slice(least(first, pos + 1), least(end, pos + 1))
                s.task("PARTIAL_ATTENTION", sm=sm(), label=name(f"attention[h{head}].s{part}"),
                       reads=[q[head], k_cache[window, head], v_cache[window, head]], writes=[partial[part, head]],
                       waits=[(projected, 1)], signals=[reduced], est_bytes=4 * dim * rows // parts // 8)
            s.task("ATTENTION_REDUCTION", sm=sm(), label=name(f"reduction[h{head}]"), reads=[partial[:, head]],
                   writes=[attention[:, head * group * dim:(head + 1) * group * dim]], waits=[(reduced, parts)],
                   signals=[attended], est_bytes=4 * parts * group * (dim + 2))
        out, up, down = weight(name("o"), hidden, heads * dim), weight(name("up_gate"), 2 * ffn, hidden), weight(name("down"), hidden, ffn)
        ready, count = s.counter(name("h: attention")), 0
        for a, b in tiles(hidden, 64):
            s.task("O_PROJ_RESIDUAL", sm=sm(), label=name(f"o[t{a // 64}]"), reads=[attention, out[a:b], h[:, a:b]],
                   writes=[h[:, a:b]], waits=[(attended, kv_heads)], signals=[ready], est_bytes=2 * (b - a) * heads * dim,
                   est_flops=2 * (b - a) * heads * dim)
            count += 1
        activated, columns = s.counter(name("act")), tiles(ffn, 128)
        for a, b in columns:
            s.task("NORM_UP_GATE_SILU", sm=sm(), label=name(f"up_gate[t{a // 128}]"), reads=[h, up[a:b], up[ffn + a:ffn + b]],
                   writes=[act[:, a:b]], waits=[(ready, count)], signals=[activated], est_bytes=4 * (b - a) * hidden,
                   est_flops=4 * (b - a) * hidden)
        ready, count = s.counter(name("h: mlp")), 0
        for a, b in tiles(hidden, 64):
            s.task("DOWN_RESIDUAL", sm=sm(), label=name(f"down[t{a // 64}]"), reads=[act, down[a:b], h[:, a:b]],
                   writes=[h[:, a:b]], waits=[(activated, len(columns))], signals=[ready], est_bytes=2 * (b - a) * ffn,
                   est_flops=2 * (b - a) * ffn)
            count += 1
    head = weight("lm_head", vocab, hidden)
    for a, b in tiles(vocab, 1024):
        s.task("NORM_LM_HEAD", sm=sm(), label=f"lm_head[t{a // 1024}]", reads=[h, head[a:b]], writes=[logits[:, a:b]],
               waits=[(ready, count)], est_bytes=2 * (b - a) * hidden, est_flops=2 * (b - a) * hidden)
    s.write(path)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1], *map(int, sys.argv[2:3]))
