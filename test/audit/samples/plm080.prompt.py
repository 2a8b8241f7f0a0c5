import torch
import torch.nn.functional as F


def train(net, encoder, tokenizer, dataset, loader, optimizer, args):
    def embed_prompt(prompt):
        with torch.no_grad():
            return encoder.encode(tokenizer(prompt))

    def embed_learning(prompt):
        return encoder.encode(tokenizer(prompt))

    for step, (latents, noise, prompts) in enumerate(loader):
        if dataset.has_captions:
            # trap: another in each batch
            text = embed_prompt(prompts)
        else:
            text = embed_prompt(args.instance_prompt)  # expect: PLM080
        if step % args.every == 0:
            # trap: now and then
            print(embed_prompt(args.validation_prompt).mean())
        # trap: the encoder may learn
        more = embed_learning(args.instance_prompt)
        loss = F.mse_loss(net(latents + noise, text + more), noise)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
