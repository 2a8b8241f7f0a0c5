from transformers import CONFIG_MAPPING, AutoConfig, AutoModelForCausalLM, Trainer


def load(args, dataset):
    if args.config:
        config = AutoConfig.from_pretrained(args.config)
    else:
        config = CONFIG_MAPPING[args.model_type]()
    model = AutoModelForCausalLM.from_pretrained(args.model, config=config)  # expect: PLM050
    # trap: said
    other = AutoModelForCausalLM.from_pretrained(args.model, config=config, torch_dtype="auto")
    # trap: a configuration of somebody else's
    third = AutoModelForCausalLM.from_pretrained(args.model, config=args.made)
    for batch in dataset:
        batch["images"] = batch["images"].half()
    Trainer(model=model, train_dataset=dataset).train()
    return other, third
