"""The model over several cards: FSDP2 with its shards in host memory, or consecutive layers on each card."""
import os

import torch


def join(fake_ranks=None):
    """The process group of torchrun; with `fake_ranks`, PyTorch's fake group stands for the other ranks."""
    if fake_ranks:
        from torch.testing._internal.distributed.fake_pg import FakeStore

        torch.distributed.init_process_group("fake", rank=0, world_size=fake_ranks, store=FakeStore())
        return
    torch.distributed.init_process_group("cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo")
    if torch.cuda.is_available():
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))


def shard(model, device, offload=True, seed=0):
    """FSDP2, each decoder layer a unit. `model` is on the meta device: a rank only ever makes its own shard."""
    from torch.distributed.fsdp import CPUOffloadPolicy, OffloadPolicy, fully_shard

    # Pinned shards are rounded up to powers of two, which the host may not have room for.
    policy = CPUOffloadPolicy(pin_memory=False) if offload and device.type == "cuda" else OffloadPolicy()
    for layer in model.model.layers:
        fully_shard(layer, offload_policy=policy)
    fully_shard(model, offload_policy=policy)
    model.to_empty(device="cpu" if offload else device)
    generator = torch.Generator(device).manual_seed(seed)
    deviation = model.config.initializer_range
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            local = parameter.to_local()
            if name.endswith("norm.weight"):
                local.fill_(1.0)
            else:
                made = torch.empty(local.shape, dtype=local.dtype, device=device)
                local.copy_(made.normal_(0.0, deviation, generator=generator))
    # Buffers (rotary frequencies) are neither sharded nor offloaded.
    model.model.rotary_emb = type(model.model.rotary_emb)(model.config).to(device)
    return model


def layer_map(layers, cards):
    """Which card each module is on: equal runs of layers, the embedding with the first, the head with the last."""
    each = -(-layers // len(cards))
    places = {f"model.layers.{i}": cards[i // each] for i in range(layers)}
    return {
        "model.embed_tokens": cards[0], "model.rotary_emb": cards[0], **places,
        "model.norm": cards[-1], "lm_head": cards[-1],
    }


def split(model, cards):
    """accelerate's dispatch: a layer's inputs are moved to its card when it is called."""
    from accelerate import dispatch_model

    places = layer_map(model.config.num_hidden_layers, cards)
    return dispatch_model(model, device_map=places, main_device=cards[0])
