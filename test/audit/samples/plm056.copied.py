from transformers import AutoTokenizer, DataCollatorForLanguageModeling, Trainer

tokenizer = AutoTokenizer.from_pretrained("base")


def tokenize(rows):
    tokens = tokenizer(rows["text"], truncation=True, padding="max_length", max_length=512)  # expect: PLM056, by hand
    # Which its collator does not pad.
    tokens["labels"] = tokens["input_ids"].copy()
    return tokens


def train(model, rows):
    pads = DataCollatorForLanguageModeling(tokenizer, mlm=False)
    # trap: to the longest
    print(tokenizer(["a", "b"], padding=True))
    Trainer(model, train_dataset=rows.map(tokenize, batched=True), data_collator=pads).train()
