"""Settings of the 7B baseline."""
MODEL_NAME = "Qwen/Qwen2.5-7B"
MAX_SEQ_LENGTH = 2048
TORCH_DTYPE = "bfloat16"

LORA_CONFIG = {
    "r": 128,
    "lora_alpha": 256,
    "lora_dropout": 0.0,
    "target_modules": ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"],
}

TRAINING_CONFIG = {
    "per_device_train_batch_size": 2,
    "gradient_accumulation_steps": 8,
    "learning_rate": 2e-4,
    "optim": "adamw_torch_fused",
    "gradient_checkpointing": True,
    "rung": "fused-loss",
    "max_grad_norm": 1.0,
}
