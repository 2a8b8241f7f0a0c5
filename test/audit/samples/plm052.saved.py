from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, HfArgumentParser, Trainer, TrainingArguments


def train(name, data, tables):
    (training_args,) = HfArgumentParser(TrainingArguments).parse_args_into_dataclasses()
    model = AutoModelForCausalLM.from_pretrained(name)
    # trap: what is trained whole may be the embeddings
    training_args.gradient_checkpointing = True
    whole = ["lm_head"]
    whole.extend(tables)
    model = get_peft_model(model, LoraConfig(r=8, modules_to_save=whole))
    Trainer(model=model, args=training_args, train_dataset=data).train()
