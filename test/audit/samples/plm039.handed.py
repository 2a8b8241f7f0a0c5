import torch
from torchvision import datasets, transforms
from transformers import Trainer


class Pad:
    def __call__(self, rows):
        batch = {"x": torch.stack(rows)}
        # trap: where it is already
        batch["mask"] = torch.ones(len(rows), device=batch["x"].device)
        return batch


class Send:
    def __call__(self, rows):
        return {"x": torch.stack(rows).cuda()}  # expect: PLM039


class Folder(datasets.ImageFolder):
    def __getitem__(self, i):
        x, y = super().__getitem__(i)
        return x.to("cuda"), y  # expect: PLM039


to_device = transforms.Lambda(lambda x: x.to("cuda"))  # expect: PLM039
# trap: stays where it is
to_half = transforms.Lambda(lambda x: x.to(torch.float16))


def run(model, args, data):
    Trainer(model=model, args=args, train_dataset=data, data_collator=Pad()).train()
    Trainer(model=model, args=args, train_dataset=data, data_collator=Send()).train()
