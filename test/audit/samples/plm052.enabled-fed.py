from transformers import AutoModel


def load(path):
    reader = AutoModel.from_pretrained(path)
    reader.embeddings.requires_grad_(False)
    # trap: what goes into the first one requires gradients
    reader.enable_input_require_grads()
    reader.gradient_checkpointing_enable()
    return reader
