def train(model, loader, optimizer, show):
    for batch in loader:
        # trap: somebody looks at them
        outputs = model(**batch, output_attentions=True)
        maps = outputs.attentions
        show(maps)
        outputs.loss.backward()
        optimizer.step()
