import torch
from datasets import load_dataset
from torch.utils.data import DataLoader

device = torch.device("cuda")


def loaders(tokenizer):
    rows = load_dataset("text", split="train").map(tokenizer)
    rows.set_format(type="torch", columns=["input_ids"], device="cuda")  # expect: PLM039
    more = rows.with_format("torch", device=device)  # expect: PLM039
    # trap: tensors of the host, as a loader pins them
    plain = rows.with_format("torch")
    # trap: on the host by name
    host = rows.with_format("torch", device="cpu")
    # trap: another library's arrays
    arrays = rows.with_format("jax", device="cuda")
    return [DataLoader(one, batch_size=8, num_workers=4) for one in (rows, more, plain, host, arrays)]
