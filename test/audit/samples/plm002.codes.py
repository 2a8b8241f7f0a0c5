def train(vqvae, loader, optimizer):
    codes, texts = [], []
    for x in loader:
        out, stats = vqvae(x.cuda())
        stats["loss"].backward()
        optimizer.step()
        # trap: which of the codes it was, a whole number
        codes.append(stats["code_ids"].cpu())
        texts.append(stats["commitment"].cpu())  # expect: PLM002
    return codes, texts
