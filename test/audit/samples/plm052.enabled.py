from transformers import AutoModel


def load(path):
    reader = AutoModel.from_pretrained(path)
    reader.embeddings.requires_grad_(False)
    reader.gradient_checkpointing_enable()  # expect: PLM052
    return reader


def newer(path):
    reader = AutoModel.from_pretrained(path)
    reader.embeddings.requires_grad_(False)
    # trap: the other path
    reader.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    return reader


def told(path, how):
    reader = AutoModel.from_pretrained(path)
    reader.embeddings.requires_grad_(False)
    # trap: nobody here says by which path
    reader.gradient_checkpointing_enable(gradient_checkpointing_kwargs=how)
    return reader
