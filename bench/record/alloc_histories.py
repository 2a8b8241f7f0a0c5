"""Records allocator histories on a CUDA machine, to hold the allocator simulation against.

    python bench/record/alloc_histories.py OUT_DIR

Each history runs in a process of its own, because the allocator reads its settings once. Writes
NAME.pickle.gz (torch.cuda.memory._dump_snapshot, without frames) and index.jsonl. Two kinds:

- training of small models built from a config, with varied lengths, under settings that move blocks about;
- random allocations and frees, which reach the rules that training seldom does: retries, garbage collection,
  out of memory, blocks shared between streams, emptying the cache.

Caps named `over` are relative to what the same work allocates without a cap, so that they bind on any card.
Needs torch with CUDA and transformers; no network.
"""

import gzip
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

GIB = 2**30
ENTRIES = 400_000
AT_ONCE = 10

BASE = {
    "model": "gpt2-small", "lora_r": 0, "batch": 4, "seq": 256, "ckpt": False, "optim": "fused", "conf": "",
    "frames": False, "cap": None, "steps": 3, "vary": False, "oom": False, "leak": False, "entries": ENTRIES,
}

SIZES = {
    "gpt2-small": {"kind": "gpt2", "n_layer": 2, "n_embd": 512, "n_head": 8, "vocab_size": 50257, "n_positions": 1024},
    "qwen2-small": {
        "kind": "qwen2", "num_hidden_layers": 3, "hidden_size": 640, "intermediate_size": 2560,
        "num_attention_heads": 10, "num_key_value_heads": 2, "vocab_size": 32000, "tie_word_embeddings": True,
    },
}


def job(name, **changes):
    return {**BASE, "name": name, **changes}


TRAINING = [
    job("gc60-cap", conf="garbage_collection_threshold:0.6", over=1.25, vary=True, steps=6),
    job("gc80-cap", model="qwen2-small", conf="garbage_collection_threshold:0.8", over=1.15, vary=True, steps=6),
    job("gc70-split128-cap", conf="garbage_collection_threshold:0.7,max_split_size_mb:128", over=1.3, vary=True, steps=6),
    job("split64-vary", conf="max_split_size_mb:64", vary=True, steps=5),
    job("split256-vary", model="qwen2-small", batch=8, conf="max_split_size_mb:256", vary=True, steps=5),
    job("split512-vary", batch=8, conf="max_split_size_mb:512", vary=True, steps=5),
    job("split128-cap", conf="max_split_size_mb:128", over=1.06, vary=True, steps=6),
    job("pow2-classes", conf="roundup_power2_divisions:[1:8,2:4,8:2,32:1,64:8,256:4,>:2]", vary=True, steps=5),
    job("pow2-split", model="qwen2-small", conf="roundup_power2_divisions:8,max_split_size_mb:64", vary=True, steps=5),
    job("expandable-cap", model="qwen2-small", conf="expandable_segments:True", over=1.04, vary=True, steps=6),
    job("cap-retry", over=1.05, vary=True, steps=6),
    job("cap-oom-caught", model="qwen2-small", over=0.9, vary=True, steps=6, oom=True),
    job("expandable-oom-caught", conf="expandable_segments:True", over=0.9, vary=True, steps=6, oom=True),
    job("empty-midway", vary=True, steps=5, empty=True),
    job("expandable-empty-midway", model="qwen2-small", conf="expandable_segments:True", vary=True, steps=5, empty=True),
    job("nonsplit-rounding", conf="max_split_size_mb:64,max_non_split_rounding_mb:128", vary=True, steps=5),
    job("large-segment", conf="large_segment_size_mb:48", vary=True, steps=4),
]

RANDOM = [
    job("random-default", steps=2500),
    job("random-cap", cap=3.0, steps=2500),
    job("random-split", conf="max_split_size_mb:100", cap=3.0, steps=2500),
    job("random-split-rounding", conf="max_split_size_mb:32,max_non_split_rounding_mb:64", cap=3.0, steps=2500),
    job("random-gc", conf="garbage_collection_threshold:0.5", cap=3.0, steps=2500),
    job("random-gc-split", conf="garbage_collection_threshold:0.75,max_split_size_mb:48", cap=3.5, steps=2500),
    job("random-pow2", conf="roundup_power2_divisions:[1:16,4:4,16:0,64:2,>:8]", cap=4.0, steps=2500),
    job("random-expandable", conf="expandable_segments:True", cap=3.0, steps=2500),
    job("random-expandable-split", conf="expandable_segments:True,max_split_size_mb:64", cap=3.0, steps=2500),
    job("random-expandable-gc-pow2", conf="expandable_segments:True,garbage_collection_threshold:0.6,roundup_power2_divisions:4", cap=3.0, steps=2500),
    job("random-streams", streams=3, steps=2500),
    job("random-streams-cap", streams=3, cap=3.5, steps=2500),
    job("random-streams-gc", streams=2, conf="garbage_collection_threshold:0.6", cap=3.5, steps=2500),
    job("random-streams-expandable", streams=2, conf="expandable_segments:True", cap=3.5, steps=2500),
    job("random-large-segment", conf="large_segment_size_mb:32,expandable_segments:True", cap=3.0, steps=2500),
    job("random-fraction-in-conf", conf="per_process_memory_fraction:0.02", steps=2500),
]
for random_job in RANDOM:
    random_job["model"] = "random"
    random_job["batch"] = random_job["seq"] = 0


def train(job, torch):
    import transformers

    size = dict(SIZES[job["model"]])
    kind = size.pop("kind")
    torch.manual_seed(0)
    config = (transformers.GPT2Config if kind == "gpt2" else transformers.Qwen2Config)(**size)
    with torch.device("cuda"):
        model = transformers.AutoModelForCausalLM.from_config(config)
    model.train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    lengths = random.Random(7)
    batch = job["batch"]
    oom = None
    for step in range(job["steps"]):
        seq = lengths.randrange(job["seq"] // 4, job["seq"] + 1) if job["vary"] and step else job["seq"]
        try:
            tokens = torch.randint(0, size["vocab_size"], (batch, seq), device="cuda")
            loss = model(input_ids=tokens, labels=tokens).loss
            loss.backward()
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        except torch.OutOfMemoryError as error:
            oom = oom or str(error)
            batch = max(1, batch // 2)
        tokens = loss = None
        if oom:
            optimizer.zero_grad(set_to_none=True)
        if job.get("empty") and step % 2 == 1:
            torch.cuda.empty_cache()
    torch.cuda.synchronize()
    return oom


def draw(dice):
    """Bytes: mostly small, some between the pools' limits, a few large, as in training; sizes recur."""
    roll = dice.random()
    if roll < 0.45:
        return int(2 ** dice.uniform(4, 20))
    if roll < 0.75:
        return int(2 ** dice.uniform(20, 24.4))
    if roll < 0.85:
        return dice.choice([3, 9, 10, 11, 21, 47, 63, 64, 65, 96, 128, 200]) * 2**20
    return int(2 ** dice.uniform(24.4, 28.6))


def scatter(job, torch):
    dice = random.Random(job["name"])
    streams = [torch.cuda.current_stream()] + [torch.cuda.Stream() for _ in range(job.get("streams", 1) - 1)]
    ceiling = 0.97 * job["cap"] * GIB if job["cap"] else 2.2 * GIB
    live, held, oom = [], 0, None
    for step in range(job["steps"]):
        # Waves, so that the cache fills with blocks of one wave when the next asks for other sizes.
        target = ceiling * (0.25 + 0.75 * abs((step % 600) / 300 - 1))
        if live and (held > target or dice.random() < 0.35):
            stream, tensor = live.pop(dice.randrange(len(live)))
            held -= tensor.numel()
            if len(streams) > 1 and dice.random() < 0.4:
                other = dice.choice(streams)
                with torch.cuda.stream(other):
                    torch.cuda._sleep(dice.choice([100_000, 3_000_000]))
                    tensor[:1].zero_()
                tensor.record_stream(other)
            del tensor
            continue
        stream = dice.choice(streams)
        size = draw(dice)
        try:
            with torch.cuda.stream(stream):
                live.append((stream, torch.empty(size, dtype=torch.uint8, device="cuda")))
            held += size
        except torch.OutOfMemoryError as error:
            oom = oom or str(error)
            for _ in range(len(live) // 4):
                held -= live.pop(dice.randrange(len(live)))[1].numel()
        if dice.random() < 0.002:
            torch.cuda.empty_cache()
    torch.cuda.synchronize()
    return oom


def record(job, path):
    import torch

    torch.cuda.init()
    torch.cuda.memory._record_memory_history(context=None, max_entries=ENTRIES)
    total = torch.cuda.get_device_properties(0).total_memory
    if job["cap"]:
        torch.cuda.set_per_process_memory_fraction(job["cap"] * GIB / total)
    oom = (scatter if job["model"] == "random" else train)(job, torch)
    stats = torch.cuda.memory_stats()
    names = [
        "allocated_bytes.all.peak", "reserved_bytes.all.peak", "reserved_bytes.all.current",
        "allocated_bytes.all.current", "num_alloc_retries", "num_ooms", "num_device_alloc", "num_device_free",
        "inactive_split_bytes.all.peak", "active_bytes.all.peak", "requested_bytes.all.peak",
    ]
    snapshot = torch.cuda.memory._snapshot()
    import pickle

    raw = pickle.dumps(snapshot, protocol=4)
    packed = gzip.compress(raw, 9)
    if path:
        with open(path, "wb") as file:
            file.write(packed)
    trace = max(snapshot["device_traces"], key=len)
    row = {
        "job": job, "stats": {name: stats[name] for name in names}, "total_memory": total, "bytes": len(raw),
        "protocol": 4, "events": len(trace), "settings": snapshot["allocator_settings"],
        "keys": sorted(snapshot), "event_keys": sorted({key for event in trace[:200] for key in event}),
        "gz": len(packed), "torch": torch.__version__,
    }
    if oom:
        row["oom"] = oom[:300]
    return row


def in_process(job, folder):
    """Runs one job in its own interpreter; its row, or None when torch refuses the settings."""
    path = os.path.join(folder, job["name"] + ".pickle.gz") if folder else ""
    env = {**os.environ, "PYTORCH_CUDA_ALLOC_CONF": job["conf"], "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
    for other in ("PYTORCH_ALLOC_CONF", "PYTORCH_HIP_ALLOC_CONF"):
        env.pop(other, None)
    with tempfile.TemporaryDirectory() as scratch:
        out = os.path.join(scratch, "row.json")
        done = subprocess.run([sys.executable, __file__, "--job", json.dumps(job), path, out], env=env, capture_output=True, text=True)
        if done.returncode:
            last = (done.stderr.strip().splitlines() or ["no output"])[-1]
            print(f"{job['name']}: not recorded: {last}", file=sys.stderr)
            return None
        with open(out) as file:
            return json.load(file)


def main(folder):
    os.makedirs(folder, exist_ok=True)
    started = time.time()
    probes = {}
    with ThreadPoolExecutor(AT_ONCE) as pool:
        # What the training jobs with a relative cap allocate without one.
        relative = [j for j in TRAINING if "over" in j]
        shapes = {(j["model"], j["batch"], j["seq"], j["steps"]) for j in relative}
        def probe(shape):
            model, batch, seq, steps = shape
            return shape, in_process(job("probe", model=model, batch=batch, seq=seq, steps=steps, vary=True), None)
        early = [pool.submit(in_process, j, folder) for j in RANDOM + TRAINING if "over" not in j]
        for shape, row in pool.map(probe, sorted(shapes)):
            probes[shape] = row["stats"]["allocated_bytes.all.peak"]
        capped = []
        for j in relative:
            peak = probes[(j["model"], j["batch"], j["seq"], j["steps"])]
            capped.append({**j, "cap": round(peak * j["over"] / GIB, 3)})
        late = [pool.submit(in_process, j, folder) for j in capped]
        rows = [future.result() for future in early + late]
    rows = [row for row in rows if row]
    with open(os.path.join(folder, "index.jsonl"), "w") as file:
        for row in rows:
            file.write(json.dumps(row) + "\n")
    for row in rows:
        s = row["stats"]
        print(f"{row['job']['name']:28} {row['events']:7} events {row['gz'] / 1000:6.0f} kB  reserved {s['reserved_bytes.all.peak'] / 1e9:6.2f} GB"
              f"  retries {s['num_alloc_retries']:3}  ooms {s['num_ooms']:3}  device frees {s['num_device_free']:4}")
    print(f"{len(rows)} histories in {time.time() - started:.0f} s")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--job"]:
        _, _, text, target, out_path = sys.argv
        result = record(json.loads(text), target)
        with open(out_path, "w") as sink:
            json.dump(result, sink)
    elif len(sys.argv) == 2:
        main(sys.argv[1])
    else:
        sys.exit(__doc__)
