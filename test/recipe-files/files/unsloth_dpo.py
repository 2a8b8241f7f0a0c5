from trl import DPOConfig, DPOTrainer
from unsloth import FastLanguageModel, is_bfloat16_supported

model, tokenizer = FastLanguageModel.from_pretrained(
    model_name="unsloth/Qwen2.5-7B",
    max_seq_length=4096,
    dtype=None,
)
model = FastLanguageModel.get_peft_model(
    model,
    r=16,
    target_modules=["q_proj", "v_proj"],
    modules_to_save=["lm_head"],
    use_gradient_checkpointing="unsloth",
)
trainer = DPOTrainer(
    model=model,
    args=DPOConfig(
        per_device_train_batch_size=2,
        fp16=not is_bfloat16_supported(),
        bf16=is_bfloat16_supported(),
        optim="adamw_8bit",
    ),
)
trainer.train()
