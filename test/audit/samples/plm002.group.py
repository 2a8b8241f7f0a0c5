import torch


def train(model, groups, optimizer, callbacks):
    model.cuda()
    for group in groups:
        optimizer.zero_grad()
        outputs = []
        for batch in group:
            output = model(batch.cuda())
            # trap: begun anew for each step
            outputs.append(output)
            loss = output["loss"]
            for callback in callbacks:
                callback.on_backward(loss)
            loss.backward()
        optimizer.step()
        print(len(outputs))


class Callback:
    def on_backward(self, loss):
        self.optimizer.step()
