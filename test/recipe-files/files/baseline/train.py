import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, AutoTokenizer, Trainer, TrainingArguments

from config.config import LORA_CONFIG, MAX_SEQ_LENGTH, MODEL_NAME, TRAINING_CONFIG


def load(name):
    model = AutoModelForCausalLM.from_pretrained(
        name,
        torch_dtype=torch.float16,
        max_memory={0: "20GB", "cpu": "30GB"},
    )
    model.gradient_checkpointing_enable()
    model.enable_input_require_grads()
    return get_peft_model(model, LoraConfig(**LORA_CONFIG))


def tokenize(batch, tokenizer):
    return tokenizer(batch["text"], truncation=True, max_length=MAX_SEQ_LENGTH)


def main():
    tokenizer = AutoTokenizer.from_pretrained(MODEL_NAME)
    model = load(MODEL_NAME)
    arguments = TrainingArguments(output_dir="out", report_to="none", **TRAINING_CONFIG)
    trainer = Trainer(model=model, args=arguments, train_dataset=data(tokenizer))
    trainer.train()


if __name__ == "__main__":
    main()
