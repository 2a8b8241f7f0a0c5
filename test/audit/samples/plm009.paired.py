def align(model, loader, optimizer):
    """Contrastive learning of pictures and what is said of them."""
    for image, caption in loader:
        # trap: one score for each pair
        loss, logits = model(image.cuda(), caption)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(logits.max().item())
