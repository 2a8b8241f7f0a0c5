import torch
from torchvision.utils import save_image


def evaluate(model, dataset, device, path):
    image, mask = zip(*[dataset[i] for i in range(8)])
    image, mask = torch.stack(image), torch.stack(mask)
    output, _ = model(image.to(device), mask.to(device))  # likely: PLM019
    output = output.detach().cpu()
    save_image(torch.cat((image, output)), path)


def evaluate_quietly(model, dataset, device, path):
    image = torch.stack([dataset[i][0] for i in range(8)])
    with torch.no_grad():
        # trap: nothing is recorded
        output = model(image.to(device))
    save_image(output.detach().cpu(), path)


def test_robustness(model, attack, x, device):
    # trap: somebody goes on with it
    output = model(x.to(device))
    return attack(output)


def show_samples(model, x, path):
    # trap: its only caller records nothing
    picture = model(x)
    save_image(picture.detach().cpu(), path)


@torch.inference_mode()
def show(model, x, path):
    show_samples(model, x, path)


def main(model, dataset):
    for epoch in range(10):
        evaluate(model, dataset, "cuda", f"{epoch}.png")
