import torch


def invert(generator, judge, sample, iden, steps, device):
    generator.eval()
    judge.eval()
    z = sample(iden, device)
    z.requires_grad = True
    still = sample(iden, device)
    optimizer = torch.optim.Adam([z], lr=0.02)
    for _ in range(steps):
        # trap: it is the input that learns
        fake = generator(z, iden)
        loss = torch.nn.functional.cross_entropy(judge(fake), iden)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def invert_given(generator, judge, z, other, iden, steps):
    generator.eval()
    judge.eval()
    optimizer = torch.optim.SGD([{"params": [z]}], lr=0.02)
    for _ in range(steps):
        # trap: the same, of what was handed in
        fake = generator(z, iden)
        with torch.no_grad():
            real = judge(other)  # expect: PLM080
        loss = (judge(fake) - real).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
