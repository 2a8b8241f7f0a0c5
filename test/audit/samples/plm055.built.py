from transformers import AutoModelForCausalLM, Trainer, TrainingArguments


def built(folder, new):
    settings = {"output_dir": folder}
    key = "eval_strategy" if new else "evaluation_strategy"
    settings[key] = "epoch"
    return TrainingArguments(**settings)  # expect: PLM055


def moved(folder, new):
    settings = {"output_dir": folder, "eval_accumulation_steps": 4}
    key = "eval_strategy" if new else "evaluation_strategy"
    settings[key] = "epoch"
    # trap: moved to the host
    return TrainingArguments(**settings)


def more(folder, key, value):
    settings = {"output_dir": folder, "eval_strategy": "epoch"}
    settings[key] = value
    # trap: whatever it is told
    return TrainingArguments(**settings)


def silent(folder):
    # trap: its trainer measures nothing
    return TrainingArguments(folder, eval_strategy="epoch")


def run(name, data, measure, folder):
    model = AutoModelForCausalLM.from_pretrained(name)
    Trainer(model, built(folder, True), train_dataset=data, compute_metrics=measure).train()
    Trainer(model, moved(folder, True), train_dataset=data, compute_metrics=measure).train()
    Trainer(model, more(folder, "seed", 1), train_dataset=data, compute_metrics=measure).train()
    Trainer(model, silent(folder), train_dataset=data).train()
