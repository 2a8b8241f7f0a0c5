from transformers import Trainer
from trl import SFTTrainer
from unsloth import FastLanguageModel
from peft import LoraConfig, get_peft_model


def train(args, training_args, data):
    # trap: unsloth sees to it
    training_args.gradient_checkpointing_kwargs = {"use_reentrant": True}
    model, _ = FastLanguageModel.from_pretrained(args.name)
    model = get_peft_model(model, LoraConfig(r=8))
    if args.task == "dpo":
        SFTTrainer(model, args=training_args, train_dataset=data).train()
    else:
        Trainer(model=model, args=training_args, train_dataset=data).train()
