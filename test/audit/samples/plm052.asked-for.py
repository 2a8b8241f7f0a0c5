import transformers
from peft import LoraConfig, get_peft_model, prepare_model_for_kbit_training


def tune(base, data, careful: bool = True):
    model = transformers.AutoModelForCausalLM.from_pretrained(base)
    # trap: on unless somebody says otherwise
    model = prepare_model_for_kbit_training(model, use_gradient_checkpointing=careful)
    model = get_peft_model(model, LoraConfig(r=8, task_type="CAUSAL_LM"))
    # trap: and so the inputs require gradients
    settings = transformers.TrainingArguments(
        output_dir="out",
        gradient_checkpointing=True,
        gradient_checkpointing_kwargs={"use_reentrant": True},
    )
    transformers.Trainer(model=model, args=settings, train_dataset=data).train()
