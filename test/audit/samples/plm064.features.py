import torch
from transformers import WhisperForConditionalGeneration

# trap: Whisper's features are all of one length
torch.backends.cudnn.benchmark = True


class Collator:
    def __init__(self, processor):
        self.processor = processor

    def __call__(self, examples):
        batch = self.processor.feature_extractor.pad(examples, return_tensors="pt")
        batch["labels"] = self.processor.tokenizer.pad(examples, return_tensors="pt")["input_ids"]
        return batch


def load(path):
    return WhisperForConditionalGeneration.from_pretrained(path).cuda()
