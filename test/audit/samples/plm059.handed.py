from torch.distributed.fsdp import FullyShardedDataParallel as FSDP


def shard_encoder(model, policy):
    return FSDP(model, auto_wrap_policy=policy, device_id=0)


def shard(model):
    return FSDP(model, device_id=0)  # expect: PLM059


def main(make_encoder, make_model, policy):
    encoder = make_encoder()
    encoder = shard_encoder(encoder, policy)
    model = make_model()
    model = shard(model)
    return encoder, model
