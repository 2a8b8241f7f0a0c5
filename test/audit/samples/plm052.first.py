from transformers import AutoModel


def whole(path):
    reader = AutoModel.from_pretrained(path)
    for name, weight in reader.named_parameters():
        if name.startswith("embeddings."):
            weight.requires_grad = False
    reader.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": True})  # expect: PLM052
    return reader
