from transformers import AutoModel


def positions(path):
    reader = AutoModel.from_pretrained(path)
    for name, weight in reader.named_parameters():
        if name.startswith("embeddings.position"):
            weight.requires_grad = False
    # trap: the words still learn
    reader.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": True})
    return reader


def but_norms(path):
    reader = AutoModel.from_pretrained(path)
    for name, weight in reader.named_parameters():
        if name.startswith("embeddings.") and "norm" not in name:
            weight.requires_grad = False
    # trap: what is left of the first part learns
    reader.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": True})
    return reader


def the_rest(path):
    reader = AutoModel.from_pretrained(path)
    for name, weight in reader.named_parameters():
        if not name.startswith("embeddings."):
            weight.requires_grad = False
    # trap: all but the embeddings
    reader.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": True})
    return reader
