"""Nothing is trained here, whatever the arguments that it shares with the training say."""

import argparse

from transformers import AutoModelForCausalLM, AutoTokenizer

parser = argparse.ArgumentParser()
parser.add_argument("--gradient_checkpointing", type=bool, default=True)
parser.add_argument("--model")
args = parser.parse_args()
tokenizer = AutoTokenizer.from_pretrained(args.model)
model = AutoModelForCausalLM.from_pretrained(args.model)
# trap: generation wants the cache
model.config.use_cache = True
# trap: that of the smaller one, too, which an assisted one refuses to go without
assistant = AutoModelForCausalLM.from_pretrained("small", use_cache=True)
ids = tokenizer("Once", return_tensors="pt").input_ids
print(tokenizer.decode(model.generate(ids, assistant_model=assistant)[0]))
