import transformers
from peft import LoraConfig, get_peft_model, prepare_model_for_kbit_training


def tune(base, data, careful: bool = False):
    model = transformers.AutoModelForCausalLM.from_pretrained(base)
    model = prepare_model_for_kbit_training(model, use_gradient_checkpointing=careful)
    model = get_peft_model(model, LoraConfig(r=8, task_type="CAUSAL_LM"))
    settings = transformers.TrainingArguments(
        output_dir="out",
        gradient_checkpointing=True,
        gradient_checkpointing_kwargs={"use_reentrant": True},  # expect: PLM052
    )
    transformers.Trainer(model=model, args=settings, train_dataset=data).train()
