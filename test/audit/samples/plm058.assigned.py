from transformers import Trainer, TrainingArguments


def tune(model, examples, several):
    arguments = TrainingArguments(output_dir="out")
    arguments.ddp_find_unused_parameters = True  # expect: PLM058
    Trainer(model=model, args=arguments, train_dataset=examples).train()


def tune_from(model, examples, several):
    settings = {"output_dir": "out", "ddp_find_unused_parameters": True}  # expect: PLM058
    settings["ddp_find_unused_parameters"] = True if several else None  # expect: PLM058
    Trainer(model=model, args=TrainingArguments(**settings), train_dataset=examples).train()


def tune_plainly(model, examples, wanted):
    arguments = TrainingArguments(output_dir="out")
    # trap: switched off
    arguments.ddp_find_unused_parameters = False
    # trap: whoever asks for it knows why
    arguments.ddp_find_unused_parameters = wanted
    Trainer(model=model, args=arguments, train_dataset=examples).train()
