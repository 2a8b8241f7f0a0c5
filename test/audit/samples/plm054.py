from transformers import AutoModelForCausalLM, GenerationConfig, Trainer, TrainingArguments


def found(name, data):
    model = AutoModelForCausalLM.from_pretrained(name, use_cache=True)  # expect: PLM054
    model.config.use_cache = True  # expect: PLM054
    trainer = Trainer(model, TrainingArguments("out", gradient_checkpointing=True), train_dataset=data)
    trainer.train()
    # trap: after training, for generation
    model.config.use_cache = True
    # trap: the cache is what generation wants
    model.generate(data[0], use_cache=True)
    # trap: a generation's settings
    GenerationConfig(use_cache=True)
