from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import CheckpointImpl, checkpoint_wrapper


def train_some(model):
    for p in model.parameters():
        p.requires_grad = False
    for name, p in model.named_parameters():
        if "lora_A" in name or "lora_B" in name:
            p.requires_grad = True
    for p in model.lm_head.parameters():
        p.requires_grad = True
    model.model.layers[-1].requires_grad_(True)
    # trap: the path that needs no gradients in its inputs
    first = checkpoint_wrapper(model.model.layers[0], checkpoint_impl=CheckpointImpl.NO_REENTRANT)
    rest = [checkpoint_wrapper(one, CheckpointImpl.REENTRANT) for one in model.model.layers[1:]]  # likely: PLM052
    return first, rest
