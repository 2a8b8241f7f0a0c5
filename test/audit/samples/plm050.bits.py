from types import SimpleNamespace

from transformers import AutoModelForCausalLM, Trainer

config = SimpleNamespace(name="meta-llama/Llama-2-7b-hf", eight=False, four=False, small=True)


def plain(data):
    model = AutoModelForCausalLM.from_pretrained(  # expect: PLM050
        config.name, load_in_8bit=config.eight and not config.four, load_in_4bit=config.four
    )
    Trainer(model=model, train_dataset=data).train()


# trap: in four bits, unless somebody asks otherwise
def small(data):
    model = AutoModelForCausalLM.from_pretrained(config.name, load_in_4bit=config.small)
    Trainer(model=model, train_dataset=data).train()


# trap: nobody knows what is asked for
def unknown(data, settings):
    model = AutoModelForCausalLM.from_pretrained(config.name, load_in_4bit=settings.quantized)
    Trainer(model=model, train_dataset=data).train()
