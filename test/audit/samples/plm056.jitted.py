import jax
from transformers import AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("base")


def collate(rows):
    # trap: each new length would be compiled anew
    return tokenizer.pad(rows, padding="max_length", max_length=512, return_tensors="np")


def labels(rows, step):
    return jax.jit(step)(collate(rows))
