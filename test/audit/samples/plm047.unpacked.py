from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer, Trainer


def main(name, data, wanted):
    settings = {"revision": "main", "output_hidden_states": True}  # expect: PLM047
    config = AutoConfig.from_pretrained(name, **settings)
    # trap: decided elsewhere
    others = {"revision": "main", "output_attentions": wanted}
    model = AutoModelForCausalLM.from_pretrained(name, config=config, **others)
    # trap: nobody loads anything with it
    shown = {"output_attentions": True, "name": name}
    tokenizer = AutoTokenizer.from_pretrained(name)
    Trainer(model=model, train_dataset=data, tokenizer=tokenizer).train()
    return shown
