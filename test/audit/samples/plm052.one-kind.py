from peft import LoraConfig, get_peft_model, prepare_model_for_kbit_training
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments


def train(args, data):
    model = AutoModelForCausalLM.from_pretrained(args.name)
    if args.mode == "qlora":
        model = prepare_model_for_kbit_training(model)
    if args.mode in ["qlora"]:
        model = get_peft_model(model, LoraConfig(r=8))
    settings = TrainingArguments(
        gradient_checkpointing=True,
        # trap: all that adapters are put into is prepared
        gradient_checkpointing_kwargs={"use_reentrant": True},
    )
    Trainer(model=model, args=settings, train_dataset=data).train()
