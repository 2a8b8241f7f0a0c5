from peft import mapping
from peft.tuners.lora import LoraModel

from .config import LSLoraConfig, LSLoraType
from .layer import FourierLinear


class LSLoraModel(LoraModel):
    """PEFT's LoRA, whatever the base layer (bf16, 8-bit, 4-bit), with every A bent."""

    def _create_and_replace(self, lora_config, adapter_name, target, target_name, parent, current_key, **kwargs):
        super()._create_and_replace(
            lora_config, adapter_name, target, target_name, parent, current_key, **kwargs
        )
        layer = getattr(parent, target_name)
        if adapter_name not in layer.lora_A:
            raise ValueError(f"LS-LoRA adapts linear layers; {current_key} is a {type(target).__name__}")
        layer.lora_A[adapter_name] = FourierLinear(
            layer.lora_A[adapter_name], lora_config.sigma, lora_config.squash
        )

    def _check_merge_allowed(self):
        raise ValueError("a curve cannot be merged into the base weights: keep the adapter beside them")

    def add_weighted_adapter(self, *args, **kwargs):
        raise ValueError("adapters with different curves have no weighted sum")


# peft.utils.register_peft_method does the same for members of PEFT's enumeration, with a prefix of their own. Ours is
# LoRA's, because the layers are.
mapping.PEFT_TYPE_TO_CONFIG_MAPPING[LSLoraType.LSLORA] = LSLoraConfig
mapping.PEFT_TYPE_TO_TUNER_MAPPING[LSLoraType.LSLORA] = LSLoraModel
mapping.PEFT_TYPE_TO_PREFIX_MAPPING[LSLoraType.LSLORA] = LSLoraModel.prefix
