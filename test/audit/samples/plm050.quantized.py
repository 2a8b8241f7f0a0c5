import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM, BitsAndBytesConfig, Trainer


def load(name, args, mode, data):
    if mode == "qlora":
        quantization = BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_compute_dtype=torch.bfloat16)
    else:
        quantization = None
    settings = dict(trust_remote_code=True, quantization_config=quantization)
    model = AutoModelForCausalLM.from_pretrained(name, **settings)  # likely: PLM050
    typed = dict(torch_dtype=torch.bfloat16, quantization_config=quantization)
    # trap: a type for all of them
    teacher = AutoModelForCausalLM.from_pretrained(name, **typed)
    always = {"quantization_config": BitsAndBytesConfig(load_in_8bit=True)}
    # trap: always in few bits
    judge = AutoModelForSeq2SeqLM.from_pretrained(name, **always)
    student = AutoModelForSeq2SeqLM.from_pretrained(name, quantization_config=quantization)  # likely: PLM050
    return Trainer(get_peft_model(model, LoraConfig()), args, train_dataset=data), teacher, judge, student
