import torch
from transformers import AutoModelForCausalLM, AutoModel


def load(name, bits, choice):
    settings = {}
    if bits in (4, 8):
        settings.update(load_in_4bit=bits == 4, load_in_8bit=bits == 8)
    model = AutoModelForCausalLM.from_pretrained(name, **settings)  # likely: PLM050
    # trap: a type for all of them
    kinds = {"torch_dtype": torch.bfloat16}
    teacher = AutoModel.from_pretrained(name, **kinds)
    # trap: decided by who calls
    student = AutoModel.from_pretrained(name, **choice)
    return model, teacher, student


def train(model, loader, optimizer):
    for batch in loader:
        model(**batch).loss.backward()
        optimizer.step()
