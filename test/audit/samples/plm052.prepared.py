from peft import LoraConfig, get_peft_model, prepare_model_for_kbit_training
from transformers import AutoModelForCausalLM, Trainer


def train(options, training_args, data):
    # trap: whatever gets adapters is prepared
    training_args.gradient_checkpointing_kwargs = {"use_reentrant": True}
    model = AutoModelForCausalLM.from_pretrained(options.name, load_in_4bit=options.adapts)
    if options.adapts:
        model = prepare_model_for_kbit_training(model)
        model = get_peft_model(model, LoraConfig(r=8))
    else:
        model = model.float()
    Trainer(model=model, args=training_args, train_dataset=data).train()
