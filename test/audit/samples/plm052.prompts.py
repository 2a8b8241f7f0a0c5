"""Prompts that are learnt require gradients themselves."""

from peft import PromptTuningConfig, get_peft_model
from transformers import AutoModelForCausalLM


def load(name):
    model = AutoModelForCausalLM.from_pretrained(name, load_in_8bit=True)
    model.gradient_checkpointing_enable()
    return get_peft_model(model, PromptTuningConfig(num_virtual_tokens=20, task_type="CAUSAL_LM"))
