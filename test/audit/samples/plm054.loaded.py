"""What is loaded here nobody is seen to train, let alone with checkpoints."""

from transformers import AutoModelForCausalLM


def fetch(options):
    # trap: for whoever generates with it, as far as one can see
    settings = dict(revision=options.revision, use_cache=True)
    return AutoModelForCausalLM.from_pretrained(options.name, **settings)
