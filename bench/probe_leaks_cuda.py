"""Does the probe name a leak on a GPU within 50 steps, and keep quiet without one? One process a case, without Node.

    PYTHONPATH=probe/site PLIMSOLL_RUN_DIR=/tmp/run python bench/probe_leaks_cuda.py CASE [cpu] > result.json

statistics: GPT-2 124M, 4 x 512 tokens, a fake quantizer before each linear layer whose running range holds the graph.
late: the same after 1,000 steps that leak nothing. other: the same after another, larger model was trained and let go.
outputs: a list of the losses with their graphs, from step 200 on.
clean: 10,000 steps of varying lengths with an evaluation every 250, a schedule and an average of the weights.
oom: batches of growing length until memory runs out.

`cpu` shrinks the model and makes the counters up, to try the script itself.
"""
import copy
import glob
import json
import os
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn

session = sys.modules["plimsoll_probe"].session._session
TINY = "cpu" in sys.argv
DEVICE = "cpu" if TINY else "cuda"
WIDTH, LAYERS, VOCABULARY = (16, 12, 64) if TINY else (768, 12, 50257)
BATCH, LENGTH = (2, 8) if TINY else (4, 512)


class FakeQuantize(nn.Module):
    def __init__(self):
        super().__init__()
        self.keeps_graph = False
        self.register_buffer("running_min", torch.zeros(1))
        self.register_buffer("running_max", torch.zeros(1))

    def forward(self, x):
        low, high = x.amin(), x.amax()
        if self.keeps_graph:
            self.running_min = self.running_min * 0.9 + low * 0.1  # leak
            self.running_max = self.running_max * 0.9 + high * 0.1  # leak
        else:
            self.running_min.mul_(0.9).add_(low.detach(), alpha=0.1)
            self.running_max.mul_(0.9).add_(high.detach(), alpha=0.1)
        return x


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.quantize = nn.ModuleList(FakeQuantize() for _ in range(4))

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (
            part.view(batch, length, max(2, width // 64), -1).transpose(1, 2)
            for part in self.qkv(self.quantize[0](self.norm1(x))).chunk(3, -1)
        )
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(batch, length, width)
        x = x + self.out(self.quantize[1](y))
        return x + self.down(self.quantize[3](F.gelu(self.up(self.quantize[2](self.norm2(x))))))


class Decoder(nn.Module):
    def __init__(self, width=WIDTH, layers=LAYERS):
        super().__init__()
        self.embed, self.place = nn.Embedding(VOCABULARY, width), nn.Embedding(1024, width)
        self.blocks = nn.ModuleList(Block(width) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, VOCABULARY, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, ids):
        x = self.embed(ids) + self.place(torch.arange(ids.shape[1], device=ids.device))
        for block in self.blocks:
            x = block(x)
        return F.cross_entropy(self.head(self.norm(x)).flatten(0, 1), ids.flatten())

    def keep_graphs(self):
        for module in self.modules():
            if isinstance(module, FakeQuantize):
                module.keeps_graph = True


leaking_from = 10**9


def leaking():
    global leaking_from
    leaking_from = session.step
    return session.step


def trainer(model):
    model.to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)

    def step(batch, length):
        loss = model(torch.randint(0, VOCABULARY, (batch, length), device=DEVICE))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    return step


def statistics(before=0):
    model = Decoder()
    step = trainer(model)
    for _ in range(before):
        step(1, 64 if not TINY else 4)
    model.keep_graphs()
    first = leaking()
    for _ in range(50):
        if events("leak", wait=0):
            break
        step(BATCH, LENGTH)
    return first


def other():
    step = trainer(Decoder(2 * WIDTH, LAYERS))
    for index in range(100):
        step(BATCH, LENGTH)
    del step
    return statistics()


def outputs():
    step = trainer(Decoder(WIDTH, 2))
    kept = []
    for _ in range(200):
        step(BATCH, LENGTH)
    first = leaking()
    for _ in range(50):
        kept.append(step(BATCH, LENGTH))  # leak
    return first


def clean():
    model = Decoder(16 if TINY else 128, 2)
    average = copy.deepcopy(model).to(DEVICE)
    step = trainer(model)
    best = None
    for index in range(600 if TINY else 10000):
        step(8, 8 + index * 37 % 120)
        with torch.no_grad():
            for mean, value in zip(average.parameters(), model.parameters()):
                mean.lerp_(value, 0.01)
        if index % 250 == 249:
            model.eval()
            with torch.no_grad():
                total = sum(model(torch.randint(0, VOCABULARY, (16, 128), device=DEVICE)).item() for _ in range(4))
            model.train()
            if best is None or total < best[0]:
                best = (total, copy.deepcopy(model.state_dict()))
    return 0


def oom():
    step = trainer(Decoder())
    if TINY:
        step(BATCH, LENGTH)
        return 0
    torch.cuda.set_per_process_memory_fraction(0.15)
    for index in range(100):
        try:
            step(4 + 8 * index, 1024)
        except torch.OutOfMemoryError:
            break
    return 0


def events(kind, wait=0.6):
    time.sleep(wait)
    found = []
    for file in glob.glob(os.path.join(os.environ["PLIMSOLL_RUN_DIR"], "rank-*.jsonl")):
        with open(file) as lines:
            found.extend(json.loads(line) for line in lines if line.endswith("}\n") and '"k":"%s"' % kind in line)
    return found


CASES = {"statistics": statistics, "late": lambda: statistics(before=1000), "other": other, "outputs": outputs,
         "clean": clean, "oom": oom}


def lines_that_leak():
    with open(__file__) as source:
        return [number for number, line in enumerate(source, 1) if line.rstrip().endswith("# leak")]


def main(case):
    if TINY:
        session._cuda.read = lambda: 3 * (10**8 + 10**6 * max(0, session.step - leaking_from),) + (0, 0, 0)
    torch.manual_seed(0)
    began = time.monotonic()
    first = CASES[case]()
    seconds = time.monotonic() - began
    found = events("leak")
    expected = lines_that_leak()
    print(json.dumps({
        "case": case, "device": "cpu" if TINY else torch.cuda.get_device_name(), "torch": torch.__version__,
        "python": sys.version.split()[0], "steps": session.step, "seconds": round(seconds, 1), "leak_from_step": first,
        "named": [{"after_steps": leak["step"] - first, "right_line": leak["line"] in expected,
                   **{name: leak[name] for name in ("line", "text", "held", "why", "per_step", "confidence", "allocated_at")}}
                  for leak in found],
        "looked_in_vain": events("growth"), "looking_seconds": round(session._leaks.spent, 2),
        "hook_us_a_step": round(1e6 * session._spent / max(1, session.step), 1), "counters_every": session._stride,
        "ooms": events("oom"),
    }), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
