from transformers import AutoModelForCausalLM, BitsAndBytesConfig


def load(name, settings, **more):
    kinds = {"load_in_4bit": True, "bnb_4bit_use_double_quant": True, **more}  # likely: PLM063
    settings["load_in_4bit"] = True  # likely: PLM063
    # trap: switched off
    plain = dict(load_in_4bit=False, **more)
    # trap: of the settings, not a choice
    print(settings["load_in_4bit"], plain)
    return AutoModelForCausalLM.from_pretrained(name, quantization_config=BitsAndBytesConfig(**kinds))
