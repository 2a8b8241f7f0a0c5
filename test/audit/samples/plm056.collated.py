from transformers import DataCollatorWithPadding, Trainer


def prepare(tokenizer, rows):
    return tokenizer(rows["text"], truncation=True, padding="max_length")  # expect: PLM056


def collator(tokenizer):
    return DataCollatorWithPadding(tokenizer, padding="max_length", max_length=512)  # expect: PLM056


def pad(tokenizer, rows):
    # trap: to the longest
    return tokenizer.pad(rows, padding=True)


def train(model, data, tokenizer):
    rows = data.map(lambda one: prepare(tokenizer, one))
    Trainer(model=model, train_dataset=rows, data_collator=collator(tokenizer)).train()
