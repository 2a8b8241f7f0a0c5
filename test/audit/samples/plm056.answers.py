from transformers import AutoTokenizer, DataCollatorForSeq2Seq, Trainer

tokenizer = AutoTokenizer.from_pretrained("base")


def tokenize(row):
    asked = tokenizer(row["question"], truncation=True, padding="max_length", max_length=512)  # expect: PLM056, by hand
    told = tokenizer(row["answer"], truncation=True, padding="max_length", max_length=512)  # expect: PLM056, by hand
    # As long as the tokens only where all are filled up.
    asked["labels"] = told["input_ids"]
    return asked


def train(model, rows):
    # trap: what the collator does unless told otherwise
    pads = DataCollatorForSeq2Seq(tokenizer, padding=True)
    Trainer(model, train_dataset=rows.map(tokenize), data_collator=pads).train()
