import argparse

from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

CHECKPOINTING = True

parser = argparse.ArgumentParser()
parser.add_argument("--plain", action="store_true")
parser.add_argument("--frugal", type=bool, default=True)
parser.add_argument("--thrifty", action="store_true")
args = parser.parse_args()


def adapted():
    model = AutoModelForCausalLM.from_pretrained("base")
    return get_peft_model(model, LoraConfig(r=8, target_modules=["q_proj"], modules_to_save=["lm_head"]))


def train_unless_told(data):
    arguments = TrainingArguments("out", gradient_checkpointing=not args.plain)  # expect: PLM052
    Trainer(adapted(), arguments, train_dataset=data).train()


def train_as_told(data):
    arguments = TrainingArguments("out", gradient_checkpointing=args.frugal)  # expect: PLM052
    Trainer(adapted(), arguments, train_dataset=data).train()


def train_by_constant(data):
    arguments = TrainingArguments("out", gradient_checkpointing=CHECKPOINTING)  # expect: PLM052
    Trainer(adapted(), arguments, train_dataset=data).train()


def train_if_told(data):
    # trap: off unless somebody asks for it
    arguments = TrainingArguments("out", gradient_checkpointing=args.thrifty)
    Trainer(adapted(), arguments, train_dataset=data).train()


def train_by_the_other_path(data):
    arguments = TrainingArguments(
        "out",
        gradient_checkpointing=not args.plain,
        gradient_checkpointing_kwargs={"use_reentrant": False},  # trap: the path is said
    )
    Trainer(adapted(), arguments, train_dataset=data).train()
