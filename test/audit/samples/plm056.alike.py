import torch


class Collator:
    """Tokens are always padded to `max_text_len`, so that all ranks see identical tensor shapes."""

    def __call__(self, rows):
        # trap: as the class says, on purpose
        input_ids = torch.full((len(rows), self.max_text_len), self.pad_id, dtype=torch.long)
        for at, row in enumerate(rows):
            input_ids[at, : len(row["input_ids"])] = row["input_ids"]
        return {"input_ids": input_ids, "labels": input_ids.clone()}


def joined(rows, pad_id, max_len):
    # trap: the same
    return [row["ids"] + [pad_id] * (max_len - row["n_ids"]) for row in rows]


def longest(rows, pad_id):
    # trap: as long as the longest of them
    room = max(len(row["ids"]) for row in rows)
    return [row["ids"] + [pad_id] * (room - len(row["ids"])) for row in rows]
