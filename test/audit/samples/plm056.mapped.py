from transformers import AutoTokenizer, DataCollatorForLanguageModeling, DataCollatorWithPadding, Trainer

tokenizer = AutoTokenizer.from_pretrained("base")


def tokenize(rows):
    tokens = tokenizer(rows["text"], truncation=True, padding="max_length", max_length=512)  # expect: PLM056
    return tokens


def prompted(row):
    return tokenize({"text": f"Question: {row['text']}"})


def train(model, rows, others, name):
    pads = DataCollatorWithPadding(tokenizer) if name else DataCollatorForLanguageModeling(tokenizer, mlm=False)
    data = rows.map(tokenize, batched=True)
    more = others.map(lambda row: tokenizer(row["text"], padding="max_length"))  # expect: PLM056
    # Cut before anybody pads it: its last token would be one of the text.
    cut = others.map(lambda row: tokenizer(row["text"], padding="max_length")["input_ids"][:-1])  # expect: PLM056, by hand
    # No tensor is made of what has many lengths.
    made = others.map(lambda row: tokenizer(row["text"], padding="max_length", return_tensors="pt"))  # expect: PLM056, by hand
    # trap: left to the collator
    plain = others.map(lambda row: tokenizer(row["text"], padding=False))
    Trainer(model, train_dataset=data, eval_dataset=more, data_collator=pads).train()
    Trainer(model, train_dataset=rows.map(prompted), data_collator=pads).train()
    return cut, made, plain
