from transformers import AutoModelForCausalLM


def main(args, accelerator):
    if args.name:
        model = AutoModelForCausalLM.from_pretrained(args.name, device_map="auto")  # expect: PLM063
    else:
        model = AutoModelForCausalLM.from_config(args.config)
    if args.world_size == 1:
        # trap: of one process
        model = AutoModelForCausalLM.from_pretrained(args.name, device_map="auto")
    return accelerator.prepare(model)
