import transformers
from peft import LoraConfig, get_peft_model, prepare_model_for_kbit_training


def train(name, data, args):
    model = transformers.AutoModelForCausalLM.from_pretrained(name, load_in_4bit=True)
    model = prepare_model_for_kbit_training(model)
    model = get_peft_model(model, LoraConfig(r=8))
    model.config.use_cache = True  # expect: PLM054
    trainer = transformers.Trainer(model=model, args=args, train_dataset=data)
    trainer.train()
    # trap: for generation
    model.config.use_cache = True
