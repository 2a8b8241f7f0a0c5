"""python -m unittest discover -s workloads/lslora/tests"""
import copy
import math
import sys
import tempfile
import unittest
from pathlib import Path

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from transformers import LlamaConfig, LlamaForCausalLM

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from lslora import FourierLinear, IdentityPenalty, LSLoraConfig, describe

IDS = torch.arange(24).view(2, 12)


def base(dtype=torch.float32):
    torch.manual_seed(0)
    config = LlamaConfig(
        hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4, vocab_size=64
    )
    return LlamaForCausalLM(config).to(dtype)


def adapted(config, dtype=torch.float32):
    torch.manual_seed(1)
    model = get_peft_model(base(dtype), config)
    generator = torch.Generator().manual_seed(2)
    for name, p in sorted(model.named_parameters()):
        if "lora_B" in name:
            p.data.copy_(torch.randn(p.shape, generator=generator) * 0.1)
    return model


def curves(model):
    return [m for m in model.modules() if isinstance(m, FourierLinear)]


class Curve(unittest.TestCase):
    def test_identity_without_squashing_is_lora_to_the_bit(self):
        plain = adapted(LoraConfig(r=4, target_modules="all-linear"))
        bent = adapted(LSLoraConfig(r=4, target_modules="all-linear", squash=False))
        self.assertTrue(torch.equal(plain(IDS).logits, bent(IDS).logits))

    def test_identity_with_squashing_nears_lora_as_sigma_grows(self):
        plain = adapted(LoraConfig(r=4, target_modules="all-linear"))
        bent = adapted(LSLoraConfig(r=4, target_modules="all-linear", sigma=1e3, lora_alpha=8000))
        torch.testing.assert_close(plain(IDS).logits, bent(IDS).logits, atol=1e-5, rtol=1e-4)

    def test_a_new_adapter_changes_nothing(self):
        plain = base()
        before = plain(IDS).logits
        model = get_peft_model(plain, LSLoraConfig(r=4, target_modules="all-linear"))
        self.assertTrue(torch.equal(before, model(IDS).logits))

    def test_the_formula(self):
        torch.manual_seed(0)
        layer = FourierLinear(torch.nn.Linear(6, 3, bias=False), sigma=0.7, squash=True)
        layer.coefficients.data = torch.tensor([0.1, 0.9, -0.2, 0.3])
        v = torch.randn(5, 6)
        x = torch.tanh((v @ layer.weight.T) / (0.7 + 1e-6))
        want = 0.1 + 0.9 * x - 0.2 * torch.sin(math.pi * x) + 0.3 * torch.cos(math.pi * x)
        torch.testing.assert_close(layer(v), want)

    def test_everything_of_the_adapter_gets_gradients_and_nothing_else(self):
        model = adapted(LSLoraConfig(r=4, target_modules="all-linear"))
        model(IDS, labels=IDS).loss.backward()
        trained = {n for n, p in model.named_parameters() if p.requires_grad}
        self.assertEqual(trained, {n for n, p in model.named_parameters() if p.grad is not None})
        self.assertTrue(all(".lora_" in n for n in trained))
        self.assertEqual(len(trained), 4 * len(curves(model)))

    def test_adapters_beside_a_bf16_base_stay_in_fp32(self):
        model = adapted(LSLoraConfig(r=4, target_modules="all-linear"), torch.bfloat16)
        self.assertTrue(all(p.dtype == torch.float32 for p in model.parameters() if p.requires_grad))
        self.assertEqual(model(IDS).logits.dtype, torch.bfloat16)


class Files(unittest.TestCase):
    def test_save_and_load(self):
        model = adapted(LSLoraConfig(r=4, target_modules="all-linear", sigma=2.0))
        for i, curve in enumerate(curves(model)):
            curve.coefficients.data += 0.01 * i
            curve.sigma.data += 0.1 * i
        with tempfile.TemporaryDirectory() as folder:
            model.save_pretrained(folder)
            again = PeftModel.from_pretrained(base(), folder)
        self.assertIsInstance(again.peft_config["default"], LSLoraConfig)
        self.assertEqual(describe(model), describe(again))
        self.assertTrue(torch.equal(model(IDS).logits, again(IDS).logits))

    def test_two_adapters_are_kept_apart(self):
        model = adapted(LSLoraConfig(r=4, target_modules="all-linear"))
        first = model(IDS).logits
        model.add_adapter("second", LSLoraConfig(r=2, target_modules=["q_proj"]))
        model.set_adapter("second")
        self.assertFalse(torch.equal(first, model(IDS).logits))
        model.set_adapter("default")
        self.assertTrue(torch.equal(first, model(IDS).logits))

    def test_what_a_curve_cannot_do_is_refused(self):
        model = adapted(LSLoraConfig(r=4, target_modules="all-linear"))
        with self.assertRaisesRegex(ValueError, "cannot be merged"):
            model.merge_and_unload()
        with self.assertRaisesRegex(ValueError, "cannot be merged"):
            model.merge_adapter()
        with self.assertRaisesRegex(ValueError, "DoRA"):
            LSLoraConfig(use_dora=True)


class Penalty(unittest.TestCase):
    def test_is_the_mean_over_modules_of_each_ones_mean(self):
        model = adapted(LSLoraConfig(r=4, target_modules="all-linear"))
        penalty = IdentityPenalty(model)
        self.assertEqual(penalty().item(), 0.0)
        for i, curve in enumerate(curves(model)):
            curve.coefficients.data += 0.1 * (i + 1)
        each = [(0.1 * (i + 1)) ** 2 for i in range(len(curves(model)))]
        self.assertAlmostEqual(penalty().item(), sum(each) / len(each), places=5)
        penalty().backward()
        self.assertTrue(all(c.coefficients.grad is not None for c in curves(model)))

    def test_needs_a_curve(self):
        with self.assertRaisesRegex(ValueError, "no curve"):
            IdentityPenalty(copy.deepcopy(base()))


if __name__ == "__main__":
    unittest.main()
