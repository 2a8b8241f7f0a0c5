import json

from torch.utils.data import Dataset
from transformers import Trainer, TrainingArguments

SETTINGS = {"learning_rate": 3e-5, "dataloader_num_workers": 6}


class Pages(Dataset):
    def __init__(self, path, tokenizer):
        with open(path) as file:
            self.rows = [{"lines": row["lines"]} for row in map(json.loads, file)]  # expect: PLM041
        self.tokenizer = tokenizer

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, at):
        return self.tokenizer(self.rows[at]["lines"][0], truncation=True)


def learn(model, path, tokenizer):
    settings = TrainingArguments(output_dir="out", **SETTINGS)
    Trainer(model=model, args=settings, train_dataset=Pages(path, tokenizer)).train()
