from dataclasses import dataclass

from peft import LoraConfig, get_peft_model, prepare_model_for_kbit_training
from transformers import AutoModelForCausalLM, HfArgumentParser, Trainer, TrainingArguments


@dataclass
class Options:
    name: str = "gpt2"
    quantized: bool = False
    train_vision: bool = False


def train(data, vision_keys):
    options, training_args = HfArgumentParser((Options, TrainingArguments)).parse_args_into_dataclasses()
    model = AutoModelForCausalLM.from_pretrained(options.name)
    training_args.gradient_checkpointing = True  # expect: PLM052
    # trap: a model's own, which it reads as it likes
    model.config.gradient_checkpointing = True
    whole = []
    whole.append("lm_head")
    if options.train_vision:
        whole.extend(vision_keys)
    if options.quantized:
        model = prepare_model_for_kbit_training(model)
    model = get_peft_model(model, LoraConfig(r=8, modules_to_save=whole))
    Trainer(model=model, args=training_args, train_dataset=data).train()
