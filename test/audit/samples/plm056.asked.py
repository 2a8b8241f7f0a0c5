from transformers import AutoTokenizer, Trainer, is_torch_xla_available


def main(dataset, name):
    tokenizer = AutoTokenizer.from_pretrained(name)

    def tokenize(examples):
        return tokenizer(examples["text"], padding="max_length", truncation=True)  # expect: PLM056

    metrics = None if is_torch_xla_available() else print
    Trainer(train_dataset=dataset.map(tokenize, batched=True), compute_metrics=metrics).train()
