from transformers import DataCollatorWithPadding, Trainer


def prepare(tokenizer, rows):
    return tokenizer(rows["text"], truncation=True, padding="max_length")  # expect: PLM056


def collator(tokenizer):
    return DataCollatorWithPadding(tokenizer, padding="max_length", max_length=512)  # expect: PLM056


def pad(tokenizer, rows):
    # trap: to the longest
    return tokenizer.pad(rows, padding=True)


def train(model, data, tokenizer):
    Trainer(model=model, train_dataset=data, data_collator=collator(tokenizer)).train()
