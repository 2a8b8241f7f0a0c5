import torch
from transformers import AutoModelForCausalLM, BitsAndBytesConfig, Trainer

from models_of_ours import PicturesForCausalLM


def train(args, data):
    settings = {}
    if args.bits in [4, 8]:
        settings.update(
            quantization_config=BitsAndBytesConfig(
                load_in_4bit=args.bits == 4,
                load_in_8bit=args.bits == 8,
                bnb_4bit_compute_dtype=torch.bfloat16,
            )
        )
    if args.pictures:
        model = PicturesForCausalLM.from_pretrained(args.name, **settings)  # likely: PLM050
    else:
        # trap: with its type beside the settings
        model = AutoModelForCausalLM.from_pretrained(args.name, torch_dtype=torch.bfloat16, **settings)
    Trainer(model=model, train_dataset=data).train()


def train_typed(args, data):
    settings = {}
    if args.bits in [4, 8]:
        settings.update(
            quantization_config=BitsAndBytesConfig(
                load_in_4bit=args.bits == 4, load_in_8bit=args.bits == 8
            ),
            torch_dtype=torch.bfloat16,
        )
    # trap: whoever names a type in one of the ways may have thought of the rest
    model = PicturesForCausalLM.from_pretrained(args.name, **settings)
    Trainer(model=model, train_dataset=data).train()
