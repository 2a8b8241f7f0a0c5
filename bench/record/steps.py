"""Records training steps on a CUDA machine: allocator counters per step, and the whole history on request.

    python bench/record/steps.py CASES.jsonl OUT_DIR [CASES_AT_ONCE [turns]]

A case is one JSON object: `name`, `config` (as AutoConfig.for_model takes it), `param_dtype`, `attn`, `optim`,
and optionally `autocast`, `ckpt` (none, reentrant, nonreentrant, selective; `every` k-th layer), `lora` {r, dropout, targets, dora}, `quant`
(nf4 | nf4-double), `mask`, `accum`, `batch`, `seq`, `steps`, `loop` (plain | trainer), `bf16` (the
Trainer's flag), `loss` (default | chunked | fused), `in_backward` (true or "host"), `no_clip`, `trace` (write the history with Python stacks), `context` (all | alloc), `cap_gb`.
With `context` alloc, frees carry no stack. Non-reentrant checkpointing needs it when the recomputation stops inside
an operator (seen with dropout and cross_entropy): with stacks on frees, torch 2.11 raises a SystemError there.
Each case runs in a process of its own; with `turns` they import at once but use the card one after the other, so
that their step times are true (`alone` in the row). Writes OUT_DIR/runs.jsonl and, for traces, OUT_DIR/NAME.pickle.gz.
Needs torch, transformers, peft; nothing from the network.
"""
import gzip
import json
import os
import pickle
import subprocess
import sys
import tempfile
import time

DTYPES = {"fp32": "float32", "bf16": "bfloat16", "fp16": "float16"}


def build_optimizer(name, params):
    import torch

    if name == "adamw_foreach":
        return torch.optim.AdamW(params, lr=1e-5, foreach=True)
    if name == "adamw_fused":
        return torch.optim.AdamW(params, lr=1e-5, fused=True)
    if name == "adamw_loop":
        return torch.optim.AdamW(params, lr=1e-5, foreach=False)
    if name == "sgd":
        return torch.optim.SGD(params, lr=1e-5)
    if name == "sgd_momentum":
        return torch.optim.SGD(params, lr=1e-5, momentum=0.9)
    if name == "adafactor":
        from transformers import Adafactor

        return Adafactor(params, lr=1e-5, relative_step=False, scale_parameter=False)
    if name in ("adamw_bnb_8bit", "paged_adamw_8bit", "lion", "paged_adamw", "lion_bnb_8bit"):
        import bitsandbytes as bnb

        kind = {
            "adamw_bnb_8bit": bnb.optim.AdamW8bit,
            "paged_adamw_8bit": bnb.optim.PagedAdamW8bit,
            "paged_adamw": bnb.optim.PagedAdamW32bit,
            "lion": bnb.optim.Lion32bit,
            "lion_bnb_8bit": bnb.optim.Lion8bit,
        }[name]
        return kind(params, lr=1e-5)
    if name == "adamw_torchao_8bit":
        from torchao.optim import AdamW8bit

        return AdamW8bit(params, lr=1e-5)
    if name == "adamw_torchao_offload":
        from torchao.optim import CPUOffloadOptimizer

        return CPUOffloadOptimizer(params, torch.optim.AdamW, lr=1e-5)
    raise ValueError(name)


def build_model(case):
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    config = AutoConfig.for_model(**case["config"])
    dtype = getattr(torch, DTYPES[case["param_dtype"]])
    device = "meta" if case.get("quant") else "cuda"
    with torch.device(device):
        model = AutoModelForCausalLM.from_config(config, dtype=dtype, attn_implementation=case["attn"])
    return model


def quantize(model, case):
    """What loading with BitsAndBytesConfig does: a linear's weight reaches the card in the checkpoint's type and is
    quantised there, one layer after the other; everything else is loaded as it is. The numbers are zeros."""
    import torch
    import bitsandbytes as bnb

    double = case["quant"] == "nf4-double"

    def fill(module, name, parameter):
        new = torch.zeros(parameter.shape, dtype=parameter.dtype, device="cuda")
        setattr(module, name, torch.nn.Parameter(new) if isinstance(parameter, torch.nn.Parameter) else new)

    def load(parent, prefix):
        for name, child in list(parent.named_children()):
            path = f"{prefix}.{name}" if prefix else name
            if isinstance(child, torch.nn.Linear) and "lm_head" not in path:
                new = bnb.nn.Linear4bit(
                    child.in_features, child.out_features, bias=child.bias is not None, compute_dtype=torch.bfloat16,
                    compress_statistics=double, quant_type="nf4", device="meta",
                )
                zeros = torch.zeros(child.weight.shape, dtype=child.weight.dtype)
                new.weight = bnb.nn.Params4bit(zeros, requires_grad=False, compress_statistics=double, quant_type="nf4")
                if child.bias is not None:
                    new.bias = torch.nn.Parameter(torch.zeros(child.bias.shape, dtype=child.bias.dtype))
                new.to("cuda")
                setattr(parent, name, new)
            else:
                load(child, path)
        for name, parameter in list(parent.named_parameters(recurse=False)):
            if parameter.device.type == "meta":
                fill(parent, name, parameter)
        for name, buffer in list(parent.named_buffers(recurse=False)):
            if buffer.device.type == "meta":
                fill(parent, name, buffer)

    load(model, "")
    model.tie_weights()
    model.is_loaded_in_4bit = True
    return model


def enable_checkpointing(model, kind, every):
    """`kind`: reentrant, nonreentrant, or selective (attention's results are kept). Every `every`-th layer."""
    import torch
    from torch.utils.checkpoint import CheckpointPolicy, create_selective_checkpoint_contexts

    kwargs = {"use_reentrant": kind == "reentrant"}
    if kind == "selective":
        names = ("cudnn", "flash", "efficient")
        kept = {getattr(torch.ops.aten, f"_scaled_dot_product_{n}_attention").default for n in names}

        def policy(ctx, op, *args, **kwargs):
            return CheckpointPolicy.MUST_SAVE if op in kept else CheckpointPolicy.PREFER_RECOMPUTE

        kwargs["context_fn"] = lambda: create_selective_checkpoint_contexts(policy)
    model.gradient_checkpointing_enable(gradient_checkpointing_kwargs=kwargs)
    layers = [m for m in model.modules() if hasattr(m, "_gradient_checkpointing_func") and not hasattr(m, "layers")]
    for i, layer in enumerate(layers):
        layer.gradient_checkpointing = i % every == 0


def wrap_lora(model, case):
    from peft import LoraConfig, get_peft_model, prepare_model_for_kbit_training

    lora = case["lora"]
    if case.get("quant") and case.get("prepare"):
        model = prepare_model_for_kbit_training(
            model, use_gradient_checkpointing=case.get("ckpt", "none") != "none",
            gradient_checkpointing_kwargs={"use_reentrant": case.get("ckpt") == "reentrant"},
        )
    return get_peft_model(
        model,
        LoraConfig(
            r=lora["r"], lora_alpha=2 * lora["r"], lora_dropout=lora.get("dropout", 0.0),
            target_modules=lora["targets"], use_dora=lora.get("dora", False),
            use_rslora=lora.get("rslora", False), task_type="CAUSAL_LM",
        ),
    )


def chunked_loss(model, ids, chunks=8):
    """Cross-entropy over chunks of the sequence, each recomputed in backward: logits never exist whole."""
    import torch
    from torch.utils.checkpoint import checkpoint

    base = model.get_base_model() if hasattr(model, "get_base_model") else model
    hidden = base.model(input_ids=ids, use_cache=False).last_hidden_state
    labels = torch.nn.functional.pad(ids, (0, 1), value=-100)[..., 1:]

    def part(h, y):
        logits = base.lm_head(h).float()
        return torch.nn.functional.cross_entropy(logits.view(-1, logits.size(-1)), y.reshape(-1), reduction="sum")

    total = sum(
        checkpoint(part, h, y, use_reentrant=False)
        for h, y in zip(hidden.chunk(chunks, dim=1), labels.chunk(chunks, dim=1))
    )
    return total / labels.numel()


def fused_loss(model, ids):
    """Liger's fused linear cross-entropy on the last hidden states."""
    import torch
    from liger_kernel.transformers import LigerFusedLinearCrossEntropyLoss

    base = model.get_base_model() if hasattr(model, "get_base_model") else model
    hidden = base.model(input_ids=ids, use_cache=False).last_hidden_state
    labels = torch.nn.functional.pad(ids, (0, 1), value=-100)[..., 1:].contiguous().view(-1)
    softcap = getattr(base.config, "final_logit_softcapping", None)
    return LigerFusedLinearCrossEntropyLoss(softcap=softcap)(
        base.lm_head.weight, hidden.view(-1, hidden.size(-1)), labels
    )


def step_in_backward_on_host(model):
    """As step_in_backward, with a copy of each parameter and its AdamW state in host memory."""
    import torch

    copies = {}
    for p in model.parameters():
        copy = torch.nn.Parameter(p.detach().cpu())
        copies[p] = (copy, torch.optim.AdamW([copy], lr=1e-5, fused=True))

    def hook(p):
        copy, optimizer = copies[p]
        copy.grad = p.grad.cpu()
        p.grad = None
        optimizer.step()
        copy.grad = None
        p.data.copy_(copy.data)

    for p in copies:
        p.register_post_accumulate_grad_hook(hook)


def step_in_backward(model):
    """Each parameter stepped and its gradient dropped as soon as it is complete."""
    import torch

    optimizers = {p: torch.optim.AdamW([p], lr=1e-5, fused=True) for p in model.parameters() if p.requires_grad}

    def hook(p):
        optimizers[p].step()
        optimizers[p].zero_grad(set_to_none=True)

    for p in optimizers:
        p.register_post_accumulate_grad_hook(hook)


def counters(torch):
    s = torch.cuda.memory_stats()
    return s["allocated_bytes.all.peak"], s["allocated_bytes.all.current"]


def plain_loop(case, model, result):
    import torch

    batch, seq, accum = case.get("batch", 2), case.get("seq", 256), case.get("accum", 1)
    if case.get("in_backward"):
        (step_in_backward_on_host if case["in_backward"] == "host" else step_in_backward)(model)
        optimizer = None
    else:
        optimizer = build_optimizer(case["optim"], [p for p in model.parameters() if p.requires_grad])
    vocab = case["config"].get("vocab_size", 50257)
    steps = []
    for _ in range(case.get("steps", 4)):
        row = {"peak": 0}
        torch.cuda.reset_peak_memory_stats()
        torch.cuda.synchronize()
        begin = time.time()

        def mark(peak_name, now_name=None):
            peak, now = counters(torch)
            row[peak_name] = max(row.get(peak_name, 0), peak)
            row["peak"] = max(row["peak"], peak)
            if now_name:
                row[now_name] = now
            torch.cuda.reset_peak_memory_stats()

        for _ in range(accum):
            ids = torch.randint(0, vocab, (batch, seq), device="cuda")
            kwargs = {"input_ids": ids, "labels": ids}
            if case.get("mask"):
                kwargs["attention_mask"] = torch.ones_like(ids)
            with torch.autocast("cuda", dtype=torch.bfloat16, enabled=bool(case.get("autocast"))):
                if case.get("loss") == "chunked":
                    loss = chunked_loss(model, ids)
                elif case.get("loss") == "fused":
                    loss = fused_loss(model, ids)
                else:
                    loss = model(**kwargs).loss
            loss = loss / accum
            mark("fwd_peak", "after_fwd")
            loss.backward()
            mark("bwd_peak", "after_bwd")
        if not case.get("no_clip"):
            torch.nn.utils.clip_grad_norm_([p for p in model.parameters() if p.requires_grad], 1.0)
            mark("clip_peak")
        if optimizer:
            optimizer.step()
        mark("opt_peak", "after_opt")
        if optimizer:
            optimizer.zero_grad(set_to_none=True)
        mark("zero_peak", "end")
        del row["zero_peak"]
        torch.cuda.synchronize()
        row["reserved"] = torch.cuda.memory_reserved()
        row["sec"] = time.time() - begin
        row["loss"] = float(loss.detach())
        steps.append(row)
    result["steps"] = steps
    result["peak_allocated"] = max(s["peak"] for s in steps)
    result["steady_peak"] = steps[-1]["peak"]


def trainer_loop(case, model, result):
    import torch
    from transformers import Trainer, TrainingArguments

    batch, seq = case.get("batch", 2), case.get("seq", 256)
    vocab = case["config"].get("vocab_size", 50257)

    class Data(torch.utils.data.Dataset):
        def __len__(self):
            return 256

        def __getitem__(self, i):
            ids = torch.randint(0, vocab, (seq,))
            item = {"input_ids": ids, "labels": ids}
            if case.get("mask"):
                item["attention_mask"] = torch.ones_like(ids)
            return item

    ckpt = case.get("ckpt", "none")
    args = TrainingArguments(
        output_dir="/tmp/plimsoll-trainer", max_steps=case.get("steps", 4), per_device_train_batch_size=batch,
        gradient_accumulation_steps=case.get("accum", 1), optim=case["optim"], bf16=bool(case.get("bf16")),
        gradient_checkpointing=ckpt != "none",
        gradient_checkpointing_kwargs={"use_reentrant": ckpt == "reentrant"} if ckpt != "none" else None,
        max_grad_norm=1.0, logging_steps=1, report_to=[], save_strategy="no", disable_tqdm=True,
    )
    Trainer(model=model, args=args, train_dataset=Data()).train()
    result["peak_allocated"] = torch.cuda.max_memory_allocated()


def import_all(case):
    import importlib

    kind = case["config"]["model_type"]
    importlib.import_module(f"transformers.models.{kind}.modeling_{kind}")
    if case.get("lora"):
        importlib.import_module("peft")
    if case.get("loss") == "fused":
        importlib.import_module("liger_kernel.transformers")
    if case.get("quant") or "8bit" in case["optim"]:
        importlib.import_module("bitsandbytes")


def run(case, out, turns=False):
    import torch
    import transformers

    if turns:
        import fcntl

        import_all(case)
        turn = open(os.path.join(out, "turn"), "w")
        fcntl.flock(turn, fcntl.LOCK_EX)  # until the process ends
    torch.manual_seed(0)
    if case.get("cap_gb"):
        total = torch.cuda.get_device_properties(0).total_memory
        torch.cuda.set_per_process_memory_fraction(case["cap_gb"] * 1e9 / total)
    if case.get("trace"):
        torch.cuda.memory._record_memory_history(max_entries=2_000_000, stacks="python", context=case.get("context", "all"))
    model = build_model(case)
    if case.get("quant"):
        model = quantize(model, case)
    if case.get("lora"):
        model = wrap_lora(model, case)
    ckpt = case.get("ckpt", "none")
    if ckpt != "none" and case.get("loop") != "trainer" and not case.get("prepare"):
        enable_checkpointing(model, ckpt, case.get("every", 1))
    if ckpt != "none" and case.get("lora") and not case.get("prepare"):
        model.enable_input_require_grads()
    model.train()
    result = {
        "id": case["name"], "torch": torch.__version__, "transformers": transformers.__version__,
        "card": torch.cuda.get_device_name(0), "alone": turns,
        "n_params": sum(p.numel() for p in model.parameters()),
        "n_trainable": sum(p.numel() for p in model.parameters() if p.requires_grad),
        "load_allocated": torch.cuda.memory_allocated(), "load_reserved": torch.cuda.memory_reserved(),
    }
    try:
        (trainer_loop if case.get("loop") == "trainer" else plain_loop)(case, model, result)
        result["ok"] = True
    except torch.OutOfMemoryError as error:
        result["ok"] = False
        result["error"] = str(error)[:400]
    stats = torch.cuda.memory_stats()
    result["peak_reserved"] = stats["reserved_bytes.all.peak"]
    result["alloc_retries"] = stats["num_alloc_retries"]
    result["ooms"] = stats["num_ooms"]
    result["num_device_alloc"] = stats["num_device_alloc"]
    result["case"] = case
    if case.get("trace"):
        data = torch.cuda.memory._snapshot()
        for trace in data["device_traces"]:
            for event in trace:
                event["frames"] = event.get("frames", [])[:24]
        with gzip.open(os.path.join(out, case["name"] + ".pickle.gz"), "wb", 6) as f:
            pickle.dump(data, f, 4)
    print("RESULT " + json.dumps(result), flush=True)


def main(script=__file__):
    if sys.argv[1] == "--one":
        return run(json.loads(sys.argv[2]), sys.argv[3], "turns" in sys.argv[4:])
    cases = [json.loads(line) for line in open(sys.argv[1]) if line.strip()]
    out = sys.argv[2]
    workers = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    os.makedirs(out, exist_ok=True)
    rows = open(os.path.join(out, "runs.jsonl"), "a")
    running = []

    def finish(case, process, stdout, stderr):
        process.wait()
        stdout.seek(0)
        stderr.seek(0)
        line = next((l for l in stdout if l.startswith("RESULT ")), None)
        row = json.loads(line[7:]) if line else {"id": case["name"], "ok": False, "case": case, "error": stderr.read()[-1500:]}
        rows.write(json.dumps(row) + "\n")
        rows.flush()
        print(case["name"], "ok" if row.get("ok") else "FAILED " + row.get("error", "")[-300:], flush=True)

    for case in cases:
        while len(running) >= workers:
            for entry in [e for e in running if e[1].poll() is not None]:
                running.remove(entry)
                finish(*entry)
            time.sleep(0.05)
        command = [sys.executable, os.path.abspath(script), "--one", json.dumps(case), out, *sys.argv[4:]]
        # Files, not pipes: nobody reads while the case runs, and a full pipe would stop it.
        stdout, stderr = tempfile.TemporaryFile("w+"), tempfile.TemporaryFile("w+")
        running.append((case, subprocess.Popen(command, stdout=stdout, stderr=stderr), stdout, stderr))
    for entry in running:
        finish(*entry)


if __name__ == "__main__":
    main()
