"""Configuration in Hydra's layout: a defaults list, one folder a group, `group.key=value` on the command line."""
from pathlib import Path

import yaml

TINY = {
    "model": {"torch_dtype": "float32"},
    "train": {"batch": 2, "max_length": 128, "steps": 12},
}


def load(folder, overrides):
    folder = Path(folder)
    top = yaml.safe_load((folder / "config.yaml").read_text())
    given = dict(item.split("=", 1) for item in overrides)
    config = {}
    for entry in top.pop("defaults"):
        if entry == "_self_":
            config.update(top)
            continue
        ((group, name),) = entry.items()
        config[group] = yaml.safe_load((folder / group / f"{given.pop(group, name)}.yaml").read_text())
    if given.get("size") == "tiny":
        for group, values in TINY.items():
            config[group].update(values)
    for path, text in given.items():
        *groups, key = path.split(".")
        place = config
        for group in groups:
            place = place[group]
        place[key] = yaml.safe_load(text)
    return config
