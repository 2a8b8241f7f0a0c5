from transformers import AutoModelForCausalLM


def tune(name, loader, optimizer):
    model = AutoModelForCausalLM.from_pretrained(name)
    model.transformer.gradient_checkpointing = True  # expect: PLM052
    model.transformer.wte.requires_grad_(False)
    # trap: what the options say, another reads
    model.config.gradient_checkpointing = True
    # trap: off
    model.head.gradient_checkpointing = False
    for batch in loader:
        model(**batch).loss.backward()
        optimizer.step()
