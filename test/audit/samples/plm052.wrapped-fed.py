from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import CheckpointImpl, checkpoint_wrapper


def train_some(model):
    for name, p in model.named_parameters():
        p.requires_grad = False
        if "lora_" in name or "embed_tokens" in name:
            p.requires_grad = True
    # trap: the embeddings learn too
    return [checkpoint_wrapper(one, checkpoint_impl=CheckpointImpl.REENTRANT) for one in model.layers]
