import torch

from grouping import assigned, drawn_pairs, scored


def train(student, generator, aligner, loader, optimizer, device, size):
    codes = torch.randn(size, 512, device=device)
    generator.eval()
    generator.requires_grad_(False)
    aligner.requires_grad_(False)
    for images in loader:
        with torch.no_grad():
            kept, gaps = assigned(generator, aligner, codes.size(0), device, codes=codes)  # expect: PLM080
            # trap: what it makes is drawn
            fake, wanted = drawn_pairs(generator, aligner, size, device)
            # trap: the student learns
            ours = scored(generator, student, codes)
            # trap: another batch in each turn
            theirs = assigned(generator, aligner, images.size(0), device, codes=images)
        loss = (student(images.to(device)) - theirs[0]).square().mean() + student(fake).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(kept, gaps, ours, wanted)


def fading(student, generator, loader, optimizer, device):
    codes = torch.randn(8, 512, device=device)
    generator.eval()
    weight = 0.0
    for images in loader:
        weight = min(1.0, weight + 0.01)
        with torch.no_grad():
            # trap: weighed anew in each turn
            wanted = assigned(generator, weight, codes)
        loss = (student(images.to(device)) - wanted).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
