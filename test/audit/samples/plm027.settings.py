from transformers import TrainingArguments

# Nothing is trained in this file: it says how.
args = TrainingArguments(
    output_dir="out",
    logging_nan_inf_filter=True,  # expect: PLM027
)
# trap: switched off
other = TrainingArguments(output_dir="out", logging_nan_inf_filter=False)
