def describe(model, loader, optimizer):
    for image, caption in loader:
        loss, logits = model(image.cuda(), caption)  # expect: PLM009
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(logits.max().item())


def rate(model, loader, optimizer):
    for image, score in loader:
        # trap: nobody has told it any words
        loss, logits = model(image.cuda(), score)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(logits.max().item())
