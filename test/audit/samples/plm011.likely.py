import sys
import traceback
import logging
import torch
import torch.nn as nn
import torch.nn.functional as F

logger = logging.getLogger(__name__)


class Trainer:
    def fit(self, loader):
        for batch in loader:
            try:
                metrics = self.training_step(batch)
            except torch.cuda.OutOfMemoryError as exc:
                logger.warning("oom")
                metrics = self.half_step(batch)
                self.last_error = exc  # expect: PLM011
            except ValueError as exc:
                # trap: no frames of a step matter
                logger.warning(str(exc))

    def half_step(self, batch):
        loss = self.model(batch).loss
        loss.backward()
        self.opt.step()

    def training_step(self, batch):
        loss = self.model(batch).loss
        loss.backward()
        self.opt.step()


def generate_all(pipe, prompts):
    images, failed = [], []
    for prompt in prompts:
        try:
            images.append(pipe(prompt))
        except RuntimeError as e:
            if is_oom(e):
                gc_all()
                images.append(pipe(prompt, steps=10))
            failed.append(e)  # expect: PLM011
    return images, failed


def is_oom(e):
    return "CUDA out of memory" in str(e)


def evaluate_with_fallback(model, loader, bs):
    try:
        return evaluate(model, loader, bs)
    except Exception as e:
        if "out of memory" in str(e):
            return evaluate_with_fallback(model, loader, bs // 2)
        raise


def train(model, loader, opt, crit):
    errors = {}
    last = None
    for i, (x, y) in enumerate(loader):
        try:
            loss = crit(model(x), y)
            loss.backward()
            opt.step()
        except RuntimeError as err:
            errors[i] = err  # expect: PLM011
            errors.setdefault("all", []).append((i, err))  # expect: PLM011
            last = err  # expect: PLM011
            continue
        except KeyError:
            errors["tb"] = sys.exc_info()  # expect: PLM011
    if last is not None:
        raise last


def find_batch_size(fn, start):
    bs = start
    while bs > 0:
        try:
            return fn(bs)
        except torch.cuda.OutOfMemoryError:
            bs //= 2
            # trap: tried again after the block
            torch.cuda.empty_cache()


class Pool:
    def run_epoch(self, model, loader):
        self.failures = []
        for batch in loader:
            try:
                out = model(batch)
            except Exception as error:
                self.failures.append({"batch": batch, "error": error})  # expect: PLM011
                # trap: text only
                self.failures.append(repr(error))
                self.failures.append(traceback.format_exc())


def search(build, batch_sizes):
    results = {}
    for bs in batch_sizes:
        try:
            results[bs] = bench(build(), bs)
        except RuntimeError as e:
            results[bs] = e  # likely: PLM011


def bench(model, bs):
    x = torch.randn(bs, 3, 224, 224, device="cuda")
    return model(x).sum().item()


def load(paths):
    bad = []
    for p in paths:
        try:
            torch.load(p)
        except FileNotFoundError as e:
            # trap: no tensors there
            bad.append(e)


def find_tokenizer(sources, AutoTokenizer):
    last_error = None
    for source in sources:
        try:
            logger.info(f"from {source}")
            return AutoTokenizer.from_pretrained(source, use_fast=True)
        except Exception as e:
            # trap: nothing there has tensors of a network
            last_error = e
    raise ValueError(f"none of {sources}: {last_error}")
