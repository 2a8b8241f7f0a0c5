import transformers
from unsloth import FastLanguageModel

# trap: another library's loader has defaults of its own
model, tokenizer = FastLanguageModel.from_pretrained("unsloth/Llama-3.2-1B", load_in_4bit=True)
plain = transformers.AutoModelForCausalLM.from_pretrained("x", load_in_4bit=True)  # expect: PLM063
