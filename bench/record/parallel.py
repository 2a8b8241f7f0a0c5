"""Records training steps of one rank of a parallel run, on one GPU: the other ranks are a fake process group,
whose collectives return at once. What a rank allocates does not depend on what it receives.

    python bench/record/parallel.py CASES.jsonl OUT_DIR [CASES_AT_ONCE]

A case is as in steps.py, with `parallel`: {kind, ranks} and, by kind,
  ddp     bucket_view: gradients are views of the buckets
  fsdp2   every decoder layer and the root by fully_shard; reshard (reshard_after_forward of the layers and the
          root; absent: PyTorch's default, layers yes, root no), mixed (parameters gathered in bf16, gradients
          reduced in fp32), offload (CPUOffloadPolicy)
  tensor  a Llama's projections split by columns and rows, head by columns; embedding and norms on every rank
The model is built whole on the card, then sharded, so `load_allocated` counts the shards and `peak_reserved` the
whole model at its building. Writes OUT_DIR/runs.jsonl and, for traces, OUT_DIR/NAME.pickle.gz.
"""
import gzip
import json
import os
import pickle
import sys

import steps


def join(ranks):
    import torch.distributed as dist
    from torch.testing._internal.distributed.fake_pg import FakeStore

    dist.init_process_group("fake", rank=0, world_size=ranks, store=FakeStore())


def decoder_layers(model):
    base = model.get_base_model() if hasattr(model, "get_base_model") else model
    return base.model.layers


def shard(model, parallel):
    import torch
    from torch.distributed.fsdp import CPUOffloadPolicy, MixedPrecisionPolicy, fully_shard

    options = {}
    if parallel.get("mixed"):
        options["mp_policy"] = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    if parallel.get("offload"):
        options["offload_policy"] = CPUOffloadPolicy()
    if "reshard" in parallel:
        options["reshard_after_forward"] = parallel["reshard"]
    for layer in decoder_layers(model):
        fully_shard(layer, **options)
    return fully_shard(model, **options)


def split(model, ranks, device):
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import Replicate
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

    mesh = init_device_mesh(device, (ranks,))
    plan = {
        **{f"self_attn.{name}_proj": ColwiseParallel() for name in "qkv"},
        "self_attn.o_proj": RowwiseParallel(),
        "mlp.gate_proj": ColwiseParallel(), "mlp.up_proj": ColwiseParallel(), "mlp.down_proj": RowwiseParallel(),
    }
    for layer in decoder_layers(model):
        parallelize_module(layer, mesh, plan)
    return parallelize_module(model, mesh, {"lm_head": ColwiseParallel(output_layouts=Replicate())})


def already_reduced(state, bucket):
    """The fake group's all-reduce has no result that DDP could read; the bucket itself is what it would be."""
    import torch

    future = torch.futures.Future()
    future.set_result(bucket.buffer())
    return future


def distribute(model, parallel, device="cuda"):
    import torch

    kind = parallel["kind"]
    if kind == "ddp":
        wrapped = torch.nn.parallel.DistributedDataParallel(
            model, device_ids=[0] if device == "cuda" else None,
            gradient_as_bucket_view=parallel.get("bucket_view", False),
        )
        wrapped.register_comm_hook(None, already_reduced)
        return wrapped
    if kind == "fsdp2":
        return shard(model, parallel)
    if kind == "tensor":
        return split(model, parallel["ranks"], device)
    raise ValueError(kind)


def run(case, out):
    import torch
    import transformers

    torch.manual_seed(0)
    torch.cuda.set_device(0)
    parallel = case["parallel"]
    join(parallel["ranks"])
    if case.get("trace"):
        torch.cuda.memory._record_memory_history(max_entries=2_000_000, stacks="python", context=case.get("context", "all"))
    model = steps.build_model(case)
    if case.get("lora"):
        model = steps.wrap_lora(model, case)
    ckpt = case.get("ckpt", "none")
    if ckpt != "none":
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": ckpt == "reentrant"})
        if case.get("lora"):
            model.enable_input_require_grads()
    model.train()
    whole = torch.cuda.memory_allocated()
    model = distribute(model, parallel)
    # What building the whole model left in the cache is no part of a rank's training.
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    result = {
        "id": case["name"], "torch": torch.__version__, "transformers": transformers.__version__,
        "card": torch.cuda.get_device_name(0), "whole_allocated": whole,
        "load_allocated": torch.cuda.memory_allocated(), "load_reserved": torch.cuda.memory_reserved(),
    }
    try:
        steps.plain_loop(case, model, result)
        result["ok"] = True
    except torch.OutOfMemoryError as error:
        result["ok"] = False
        result["error"] = str(error)[:400]
    stats = torch.cuda.memory_stats()
    result["peak_reserved"] = max(step["reserved"] for step in result.get("steps", [{"reserved": 0}]))
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


if __name__ == "__main__":
    if sys.argv[1] == "--one":
        run(json.loads(sys.argv[2]), sys.argv[3])
    else:
        steps.main(__file__)
