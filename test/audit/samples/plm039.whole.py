from datasets import load_dataset


def embedded(model):
    rows = load_dataset("text", split="train")
    # trap: nothing loads them: the columns are asked for as a whole
    rows.set_format("torch", device="cuda")
    return model.cuda()(rows["features"])
