import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments


def run(path, data):
    model = AutoModelForCausalLM.from_pretrained(path, load_in_8bit=True)
    # trap: the embeddings are trained as well, so the first checkpoint's input requires gradients
    model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": True})
    config = LoraConfig(r=16, target_modules=["c_attn"], modules_to_save=["lm_head", "wte"])
    Trainer(get_peft_model(model, config), TrainingArguments("out"), train_dataset=data).train()
