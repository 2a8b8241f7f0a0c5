from transformers import AutoModelForSequenceClassification


def freeze(name):
    model = AutoModelForSequenceClassification.from_pretrained(name)
    model.base_model.requires_grad = False  # expect: PLM077
    # trap: a parameter
    model.base_model.embed.weight.requires_grad = False
    # trap: does it
    model.base_model.requires_grad_(False)
    return model
