from peft import LoraConfig, get_peft_model
from transformers import LlamaForCausalLM, Trainer, TrainingArguments


def train(name, data):
    model = LlamaForCausalLM.from_pretrained(name, load_in_8bit=True)
    model.gradient_checkpointing_enable()  # expect: PLM052
    model = get_peft_model(model, LoraConfig(r=8))
    args = TrainingArguments("out", gradient_checkpointing=True)  # expect: PLM052
    # trap: the other path
    second = TrainingArguments(
        "out", gradient_checkpointing=True, gradient_checkpointing_kwargs={"use_reentrant": False}
    )
    # trap: off
    third = TrainingArguments("out", gradient_checkpointing=False)
    Trainer(model=model, args=args, train_dataset=data).train()
    return second, third


def optional(name, options):
    model = get_peft_model(LlamaForCausalLM.from_pretrained(name), LoraConfig(r=8))
    return model, TrainingArguments(
        "out",
        gradient_checkpointing=options.checkpointing,
        gradient_checkpointing_kwargs={"use_reentrant": True},  # expect: PLM052
    )
