import torch
from transformers import AutoModelForCausalLM, BitsAndBytesConfig

dtype = torch.float32
model = AutoModelForCausalLM.from_pretrained(
    "a/model",
    torch_dtype=dtype,
    # trap: float32 was asked for (a note)
    quantization_config=BitsAndBytesConfig(load_in_4bit=True),  # expect: PLM063
)
other = AutoModelForCausalLM.from_pretrained(
    "a/model",
    torch_dtype=torch.bfloat16,
    quantization_config=BitsAndBytesConfig(load_in_4bit=True),  # expect: PLM063
)
