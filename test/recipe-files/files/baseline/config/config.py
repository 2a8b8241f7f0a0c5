"""Settings of the baseline."""
MODEL_NAME = "Qwen/Qwen2.5-7B-Instruct"
MAX_SEQ_LENGTH = 1536  # was 2048

LORA_CONFIG = {
    "r": 128,
    "lora_alpha": 256,
    "target_modules": ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"],
    "lora_dropout": 0.05,
    "bias": "none",
}

TRAINING_CONFIG = {
    "learning_rate": 2e-4,
    "per_device_train_batch_size": 1,
    "gradient_accumulation_steps": 16,
    "optim": "adamw_torch",
    "fp16": True,
}
