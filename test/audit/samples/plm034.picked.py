from transformers import TrainerCallback


class Norms(TrainerCallback):
    def on_step_end(self, args, state, control, model=None, **kwargs):
        total = 0.0
        for name, weight in model.named_parameters():
            if "adapter" in name:
                total = total + weight.detach().square().sum()  # expect: PLM034
        self.total = total

    def on_train_end(self, args, state, control, model=None, **kwargs):
        total = 0.0
        for name, weight in model.named_parameters():
            if "adapter" in name:
                # trap: once, at the end
                total = total + weight.detach().square().sum()
        self.last = total


class Sizes(TrainerCallback):
    def on_step_end(self, args, state, control, model=None, **kwargs):
        count = 0
        for name, weight in model.named_parameters():
            if "adapter" in name:
                # trap: no kernel is launched for a size
                count = count + weight.numel()
        self.count = count


class Rare(TrainerCallback):
    def on_step_end(self, args, state, control, model=None, **kwargs):
        if state.global_step % 500 != 0:
            return
        total = 0.0
        for name, weight in model.named_parameters():
            if "adapter" in name:
                # trap: now and then
                total = total + weight.detach().square().sum()
        self.total = total
