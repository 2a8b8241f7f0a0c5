from peft import LoraConfig, get_peft_model, prepare_model_for_kbit_training
from transformers import AutoModelForCausalLM, Trainer
from trl import DPOTrainer
from unsloth import FastLanguageModel


def load_fast(args):
    model, _ = FastLanguageModel.from_pretrained(args.name)
    return FastLanguageModel.get_peft_model(model, r=8, use_gradient_checkpointing=True)


def load(args, training_args):
    model = AutoModelForCausalLM.from_pretrained(args.name)
    if args.mode == "qlora" and args.task == "sft":
        model = prepare_model_for_kbit_training(model)
    if args.mode in ["lora", "qlora"] and args.task == "sft":
        model = get_peft_model(model, LoraConfig(r=8))
    return model


def build(args, training_args, data):
    training_args.gradient_checkpointing_kwargs = {"use_reentrant": True}  # expect: PLM052
    # trap: the other path
    training_args.gradient_checkpointing_kwargs = {"use_reentrant": False}
    model = load_fast(args) if args.use_unsloth else load(args, training_args)
    if args.task == "dpo":
        return DPOTrainer(model, args=training_args, train_dataset=data)
    return Trainer(model=model, args=training_args, train_dataset=data)
