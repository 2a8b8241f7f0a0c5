from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, TrainingArguments
from trl import SFTConfig, SFTTrainer

CONFIG = LoraConfig(modules_to_save=["input_layernorm"], task_type="CAUSAL_LM")


def wraps_itself(path, rows):
    model = get_peft_model(AutoModelForCausalLM.from_pretrained(path), CONFIG)
    args = TrainingArguments("out", gradient_checkpointing=True)  # expect: PLM052
    SFTTrainer(model=model, args=args, train_dataset=rows, max_seq_length=2048).train()


def leaves_it_to_trl(path, rows):
    # trap: its own arguments came with a trl that sees to the inputs
    args = SFTConfig("out", gradient_checkpointing=True)
    SFTTrainer(model=path, args=args, train_dataset=rows, peft_config=CONFIG).train()
