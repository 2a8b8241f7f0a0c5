import torch

device = torch.device("cuda")


@torch.no_grad()
def validate(model, data, get_batch, eval_iters, heads):
    model.eval()
    outputs, maps = [], []
    for _ in range(eval_iters):
        x, y = get_batch(data)
        logits = model(x.to(device))
        outputs.append(logits)  # expect: PLM003
    for i in range(heads):
        # trap: a handful
        maps.append(model(data[i].to(device)))
    return torch.cat(outputs), maps, y
