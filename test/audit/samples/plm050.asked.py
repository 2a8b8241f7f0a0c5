import argparse

from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, BitsAndBytesConfig

parser = argparse.ArgumentParser()
parser.add_argument("--bits", type=int, default=16)
parser.add_argument("--quantize", type=bool, default=True)
args = parser.parse_args()

base = AutoModelForCausalLM.from_pretrained(  # expect: PLM050
    "base",
    quantization_config=BitsAndBytesConfig(load_in_4bit=True) if args.bits in [4, 8] else None,
)
model = get_peft_model(base, LoraConfig(r=8))

# trap: quantized unless somebody says otherwise
other = AutoModelForCausalLM.from_pretrained(
    "base",
    quantization_config=BitsAndBytesConfig(load_in_4bit=True) if args.quantize else None,
)
