"""Reads configs with the parsers of the stacks they are for. stdin: [{"kind", "text"}]; stdout: what each said, or null."""
import ast
import glob
import json
import os
import sys
import tempfile

# LLaMA-Factory's own switch: it asks for versions of transformers older than the tests'.
os.environ["DISABLE_VERSION_CHECK"] = "1"
import yaml
import transformers.training_args

# TrainingArguments asks the machine whether it could train so: the tests' has no card.
transformers.training_args.is_torch_bf16_gpu_available = lambda: True


def axolotl(text):
    from axolotl.utils.config import prepare_plugins, validate_config
    from axolotl.utils.dict import DictDefault

    config = DictDefault(yaml.safe_load(text))
    prepare_plugins(config)
    # Unknown keys are dropped without a word.
    dropped = set(config) - set(validate_config(config))
    assert not dropped, f"unknown to axolotl: {dropped}"


def llamafactory(text):
    from llamafactory.hparams.parser import _TRAIN_ARGS
    from transformers import HfArgumentParser

    HfArgumentParser(_TRAIN_ARGS).parse_dict(yaml.safe_load(text))


def tune(text):
    import torchtune
    from omegaconf import OmegaConf
    from torchtune import config

    given = OmegaConf.create(text)
    # Beside the package: the recipes themselves cannot be imported.
    pattern = os.path.join(os.path.dirname(torchtune.__file__), "../recipes/configs/**/*single_device.yaml")
    known = set().union(*(OmegaConf.load(path) for path in glob.glob(pattern, recursive=True)))
    unknown = set(given) - known
    assert known and not unknown, f"in no config of torchtune's recipes: {unknown}"
    if not any("bitsandbytes" in str(part) for part in given.optimizer.values()):
        config.validate(given)


def hydra(text):
    from hydra.utils import instantiate
    from omegaconf import OmegaConf

    config = OmegaConf.create(text)
    for name in ("lora", "quantization", "training"):
        if name in config:
            instantiate(config[name])


def deepspeed(text):
    from deepspeed.runtime import constants, precision_config
    from deepspeed.runtime.config import DeepSpeedConfig
    from deepspeed.runtime.zero import config as zero

    given = json.loads(text)
    # Unknown keys at the top are passed over without a word.
    known = {value for module in (constants, precision_config, zero) for value in vars(module).values() if isinstance(value, str)}
    unknown = set(given) - known
    assert not unknown, f"no constant of DeepSpeed's: {unknown}"
    read = DeepSpeedConfig(given)
    assert read.zero_config.stage == given["zero_optimization"]["stage"]
    assert read.gradient_clipping == given["gradient_clipping"]


def accelerate(text):
    from accelerate.commands.config.config_args import load_config_from_file

    path = os.path.join(tempfile.mkdtemp(), "accelerate.yaml")
    with open(path, "w") as file:
        file.write(text)
    load_config_from_file(path)


def script(text):
    import torch
    from peft import LoraConfig
    from transformers import BitsAndBytesConfig, TrainingArguments
    from transformers.training_args import OptimizerNames
    from trl import SFTConfig

    makers = {cls.__name__: cls for cls in (LoraConfig, BitsAndBytesConfig, TrainingArguments, SFTConfig)}
    made = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and getattr(node.func, "id", None) in makers:
            made.append(eval(compile(ast.Expression(node), "train.py", "eval"), {"torch": torch, **makers}))
    assert made, "it makes no arguments"
    for one in made:
        if isinstance(one, TrainingArguments):
            OptimizerNames(one.optim)


PARSERS = {f.__name__: f for f in (axolotl, llamafactory, tune, hydra, deepspeed, accelerate, script)}

answers = []
for case in json.load(sys.stdin):
    try:
        PARSERS[case["kind"]](case["text"])
        answers.append(None)
    except ImportError as error:
        # A component that is not there is the config's mistake; a parser that is not, the tests'.
        if error.name is None or not error.name.startswith("torchtune"):
            raise
        answers.append(repr(error))
    except Exception as error:
        answers.append(f"{type(error).__name__}: {error}")
print("\n" + json.dumps(answers))
