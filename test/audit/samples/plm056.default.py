from transformers import AutoTokenizer, DataCollatorWithPadding, Trainer, default_data_collator

tokenizer = AutoTokenizer.from_pretrained("base")


def tokenize(rows):
    return tokenizer(rows["text"], truncation=True, padding="max_length")  # expect: PLM056, by hand


def train(model, rows, fixed):
    # One of them stacks what has one length.
    pads = default_data_collator if fixed else DataCollatorWithPadding(tokenizer)
    # trap: to the longest
    print(tokenizer(["a", "b"], padding=True))
    Trainer(model, train_dataset=rows.map(tokenize, batched=True), data_collator=pads).train()
