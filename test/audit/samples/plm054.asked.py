from transformers import AutoModelForCausalLM, HfArgumentParser, Trainer, TrainingArguments


def main(data):
    (args,) = HfArgumentParser((TrainingArguments,)).parse_args_into_dataclasses()
    model = AutoModelForCausalLM.from_pretrained("base")
    model.config.use_cache = True  # expect: PLM054
    if args.gradient_checkpointing:
        model.enable_input_require_grads()
    trainer = Trainer(model=model, args=args, train_dataset=data)
    trainer.train()
    # trap: for generation, after training
    trainer.model.config.use_cache = True


def chosen(args, data):
    model = AutoModelForCausalLM.from_pretrained("base")
    if args.gradient_checkpointing:
        model.enable_input_require_grads()
    else:
        # trap: only without checkpointing
        model.config.use_cache = True
    if not args.gradient_checkpointing:
        # trap: only without checkpointing
        model.config.use_cache = True
    Trainer(model=model, args=args, train_dataset=data).train()
