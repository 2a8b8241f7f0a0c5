from peft import LoraConfig, get_peft_model


def build(model):
    model = get_peft_model(model, LoraConfig(r=8))
    # trap: the inputs are made to require gradients
    model.enable_input_require_grads()
    model.gradient_checkpointing_enable({"use_reentrant": True})
    return model
