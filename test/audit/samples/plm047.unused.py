def train(model, loader, optimizer, show):
    for batch in loader:
        outputs = model(**batch, output_attentions=True)  # expect: PLM047
        maps = outputs.attentions
        outputs.loss.backward()
        optimizer.step()
