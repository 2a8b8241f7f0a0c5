"""Records what single operations allocate on a CUDA machine, to hold src/autograd against.

    python bench/record/kernels.py OUT.txt

One line an operation: its name and shape, then its allocations (`A<n>:<bytes>`) and frees (`F<n>`), the parts of
the run apart by `|` (attention: forward, transposing back, backward, dropping the gradients). Attention runs twice
and its second run is kept, because a library's first call may take a workspace. Needs torch with CUDA.
"""

import sys

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

history = torch.cuda.memory


def recorded(parts):
    marks = []
    history._record_memory_history(max_entries=100_000, context=None)
    for part in parts:
        part()
        marks.append(len(history._snapshot()["device_traces"][0]))
    events = history._snapshot()["device_traces"][0]
    history._record_memory_history(None)
    words, numbers = [], {}
    for index, event in enumerate(events):
        words += ["|"] * marks.count(index)
        if event["action"] == "alloc":
            numbers[event["addr"]] = count = sum(w[0] == "A" for w in words)
            words.append(f"A{count}:{event['size']}")
        elif event["action"] == "free_completed" and event["addr"] in numbers:
            words.append(f"F{numbers[event['addr']]}")
    return " ".join(words + ["|"])


def attention(dtype, batch, queries, keys, length, size, masked, dropout, backend):
    q = torch.randn(batch, length, queries, size, device="cuda", dtype=dtype).transpose(1, 2).requires_grad_()
    k = torch.randn(batch, keys, length, size, device="cuda", dtype=dtype).requires_grad_()
    v = torch.randn(batch, keys, length, size, device="cuda", dtype=dtype).requires_grad_()
    grad = torch.randn(batch, length, queries, size, device="cuda", dtype=dtype)
    mask = torch.ones(1, 1, length, length, dtype=torch.bool, device="cuda").tril() if masked else None
    mask = mask.expand(batch, 1, length, length) if masked else None
    held = {}

    def forward():
        held["out"] = F.scaled_dot_product_attention(
            q, k, v, attn_mask=mask, dropout_p=dropout, is_causal=not masked, enable_gqa=queries != keys
        )

    def back():
        held["heads"] = held.pop("out").transpose(1, 2).contiguous()

    def backward():
        held["grads"] = torch.autograd.grad(held.pop("heads"), [q, k, v], grad)

    for _ in range(2):
        if backend is None:
            line = recorded([forward, back, backward, held.clear])
        else:
            with sdpa_kernel([backend]):
                line = recorded([forward, back, backward, held.clear])
    return line


def embedding(tokens, vocabulary, width, dtype):
    weight = torch.randn(vocabulary, width, device="cuda", dtype=dtype, requires_grad=True)
    out = F.embedding(torch.randint(0, vocabulary, (tokens,), device="cuda"), weight)
    grad, held = torch.randn_like(out), {}
    return recorded([lambda: held.update(g=torch.autograd.grad(out, [weight], grad)), held.clear])


def total(shape, dims, dtype):
    x, held = torch.randn(*shape, device="cuda", dtype=dtype), {}
    return recorded([lambda: held.update(sum=x.sum(dims)), held.clear])


ATTENTION = [
    (2, 12, 12, 256, 64), (2, 32, 8, 300, 64), (2, 8, 4, 256, 256), (1, 32, 8, 1000, 128),
    (1, 16, 16, 1500, 80), (1, 4, 4, 300, 96), (2, 8, 8, 2048, 128),
]  # fmt: skip
BACKENDS = [None, SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]
EMBEDDING = [
    (3072, 32000, 2048), (3073, 32000, 2048), (4096, 32000, 2048), (4096, 50257, 768), (8192, 50257, 768),
    (8192, 128256, 2048), (16384, 128256, 4096), (16384, 1000, 768), (32768, 32000, 2048), (4096, 151936, 896),
    (65536, 50257, 1024), (4096, 1024, 768),
]  # fmt: skip
ROWS = [256, 512, 600, 1024, 2048, 4096, 8192, 16384, 32768]
COLUMNS = [512, 768, 896, 1024, 2048, 2304, 3072, 4096, 4864, 8192, 11008]
SUMS = [((n, w), [0]) for n in ROWS for w in COLUMNS] + [
    ((8, 1024, 768), [0, 1]), ((8, 2048, 128), [0, 1]), ((2, 8, 4, 256, 64), [2]), ((4, 2, 7, 1024, 64), [2]),
    ((2, 1024, 32, 128), [0, 1, 2]), ((8, 2048, 16, 128), [0, 1, 2]), ((1, 512, 16, 64), [0, 1, 2]),
]  # fmt: skip


def main(path):
    with open(path, "w") as file:

        def write(name, record):
            try:
                print(name, record(), file=file, flush=True)
            except RuntimeError:
                history._record_memory_history(None)  # no such kernel for these shapes

        for dtype in (torch.bfloat16, torch.float32):
            warm = torch.randn(64, 64, device="cuda", dtype=dtype, requires_grad=True)
            (warm @ warm).sum().backward()
            for shape in ATTENTION:
                b, q, k, s, d = shape
                for masked, p in ((False, 0.0), (True, 0.0), (False, 0.1)):
                    for backend in BACKENDS:
                        name = backend.name if backend else "default"
                        write(
                            f"sdpa {dtype} B{b} H{q}/{k} S{s} D{d} mask={masked} p={p} {name}",
                            lambda: attention(dtype, *shape, masked, p, backend),
                        )
            for n, v, w in EMBEDDING:
                write(f"emb n{n} V{v} W{w} {dtype}", lambda: embedding(n, v, w, dtype))
            for shape, dims in SUMS:
                write(f"sum {shape} {dims} {dtype} None", lambda: total(shape, dims, dtype))


if __name__ == "__main__":
    main(sys.argv[1])
