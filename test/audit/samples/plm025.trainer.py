from transformers import Trainer


class Counting(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False):
        self.tokens += (inputs["labels"] != -100).sum().item()  # expect: PLM025
        return super().compute_loss(model, inputs, return_outputs)


class Other:
    def compute_loss(self, model, inputs, return_outputs=False):
        # of no framework, who knows where they are
        self.tokens += (inputs["labels"] != -100).sum().item()  # likely: PLM025
        return super().compute_loss(model, inputs, return_outputs)


def run(model, args, data):
    return Counting(model=model, args=args, train_dataset=data).train()
