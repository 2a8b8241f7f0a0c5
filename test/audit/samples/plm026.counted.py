import torch


def train(model, loader, optimizer, bar):
    for batch in loader:
        output = model(batch.cuda())
        output.loss.backward()
        optimizer.step()
        # trap: counted by who may have read it already
        bar.set_description(f"correct {output.correct_percentage:4.1f}")
        print(f"loss {output.loss}")  # expect: PLM026
