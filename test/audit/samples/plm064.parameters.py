import torch

torch.backends.cudnn.benchmark = True  # expect: PLM064


class SpeechCollator:
    def __init__(self, processor, padding=True):
        self.processor = processor
        self.padding = padding

    def __call__(self, examples):
        return self.processor(examples, padding=self.padding, return_tensors="pt")
