from transformers import HfArgumentParser, Trainer, TrainingArguments


class Options:
    def __init__(self):
        # trap: an option of its own, which may be handed to nobody
        self.torch_empty_cache_steps = 1


def main(model, data):
    (args,) = HfArgumentParser(TrainingArguments).parse_args_into_dataclasses()
    args.torch_empty_cache_steps = 1  # expect: PLM031
    args.torch_empty_cache_steps = 500  # expect: PLM031
    # trap: none, as it is without it
    args.torch_empty_cache_steps = None
    # trap: whatever somebody says
    args.torch_empty_cache_steps = data.steps
    Trainer(model=model, args=args, train_dataset=data).train()
