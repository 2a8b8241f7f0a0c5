from peft import LoraConfig, get_peft_model
from transformers import WhisperForConditionalGeneration


def load(path):
    model = WhisperForConditionalGeneration.from_pretrained(path)
    # trap: what the encoder's first layer gives requires gradients
    model.model.encoder.conv1.register_forward_hook(lambda module, given, out: out.requires_grad_(True))
    model.gradient_checkpointing_enable()
    return get_peft_model(model, LoraConfig(r=16, target_modules=["q_proj", "v_proj"]))
