import torch
from torch.utils.data import DataLoader, Dataset

device = torch.device("cuda")


class Prompts(Dataset):
    def __init__(self, prompt, count):
        self.prompt = prompt
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        example = {}
        example["prompt"] = self.prompt
        example["index"] = index
        return example


class Encoded(Dataset):
    def __init__(self, prompts, tokenizer):
        self.prompts = prompts
        self.tokenizer = tokenizer

    def __len__(self):
        return len(self.prompts)

    def __getitem__(self, index):
        return {"prompt": self.tokenizer(self.prompts[index])}


def loaders(words, tokenizer):
    # trap: words, of which there is nothing to pin
    a = DataLoader(Prompts("a dog", 100), batch_size=4)
    b = DataLoader(Encoded(words, tokenizer), batch_size=4)  # expect: PLM038
    return a, b
