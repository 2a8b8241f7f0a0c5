from dataclasses import dataclass

from peft import LoraConfig, get_peft_model, prepare_model_for_kbit_training
from transformers import AutoModelForCausalLM, HfArgumentParser, Trainer, TrainingArguments


@dataclass
class Options:
    name: str = "gpt2"
    mode: str = "quantized"


def train(data):
    options, training_args = HfArgumentParser((Options, TrainingArguments)).parse_args_into_dataclasses()
    training_args.gradient_checkpointing_kwargs = {"use_reentrant": True}  # expect: PLM052
    # trap: the other path
    training_args.gradient_checkpointing_kwargs = {"use_reentrant": False}
    training_args.gradient_checkpointing_kwargs["use_reentrant"] = True  # expect: PLM052
    # trap: settings of something else
    options.gradient_checkpointing_kwargs = {"use_reentrant": True}
    if options.mode == "quantized":
        model = AutoModelForCausalLM.from_pretrained(options.name, load_in_4bit=True)
        model = prepare_model_for_kbit_training(model)
    else:
        model = AutoModelForCausalLM.from_pretrained(options.name)
    model = get_peft_model(model, LoraConfig(r=8, modules_to_save=["lm_head"]))
    Trainer(model=model, args=training_args, train_dataset=data).train()
