import argparse

from peft import LoraConfig, get_peft_model, prepare_model_for_kbit_training
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

parser = argparse.ArgumentParser()
parser.add_argument("--four_bit", type=bool, default=True)
args = parser.parse_args()


def train(name, data):
    model = AutoModelForCausalLM.from_pretrained(name)
    if args.four_bit:
        model = prepare_model_for_kbit_training(model)
    model = get_peft_model(model, LoraConfig(r=8))
    # trap: by default the model is prepared, and its inputs require gradients
    training = TrainingArguments("out", gradient_checkpointing=True)
    Trainer(model=model, args=training, train_dataset=data).train()
