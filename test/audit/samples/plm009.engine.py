import deepspeed
import torch
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("gpt2")
engine, optimizer, _, _ = deepspeed.initialize(model=model, model_parameters=model.parameters(), config=config)


def scored(logits, ids):
    return torch.gather(logits.log_softmax(-1), 2, ids.unsqueeze(2)).squeeze(2)


def step(batch):
    logits = engine(batch.to(engine.device)).logits
    logits = logits[:, :-1, :]
    return -scored(logits, batch[:, 1:]).mean(), logits


def step_alone(batch):
    logits = engine(batch.to(engine.device)).logits
    return -scored(logits[:, :-1, :], batch[:, 1:]).mean(), logits.shape[1]


for batch in batches:
    loss, logits = step(batch)  # expect: PLM009
    engine.backward(loss)
    engine.step()
    print(logits.shape)

for batch in batches:
    # trap: a number
    loss, length = step_alone(batch)
    engine.backward(loss)
    engine.step()
    print(length)
