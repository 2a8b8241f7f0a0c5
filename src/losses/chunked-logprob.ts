import { gather } from "../autograd/lookup.ts";
import type { Tensor } from "../autograd/tensor.ts";
import type { Torch } from "../autograd/torch.ts";
import { slice } from "../autograd/views.ts";
import type { Net } from "../nets/net.ts";
import { Phase } from "../tape/vocabulary.ts";
import type { Loss } from "./loss.ts";

/** A tile of logits: tokens by vocabulary (TOKEN_CHUNK_SIZE and _CHUNKED_LOGPROB_CHUNK_SIZE in TRL 1.16). */
const TILE_TOKENS = 4096;
const TILE_VOCABULARY = 32_768;

/**
 * TRL's SFTTrainer (from 1.16): log-probabilities from tiles of logits, recomputed in backward, whose gradients
 * of hidden states and head weight are summed in fp32. Only positions with a label are scored.
 */
export const chunkedLogProbLoss: Loss = (f, net, hidden) => {
  const { torch } = f;
  if (f.training) torch.phase = Phase.loss;
  return torch.module("loss", [hidden], () => {
    const [batch, length] = f.ids.shape as [number, number];
    const shifted = torch.let(slice(torch, hidden, 1, 0, length - 1));
    torch.let(torch.empty([batch, length - 1], "bool"));
    const scored = Math.max(1, Math.ceil(batch * (length - 1) * f.labelled));
    const rows = gather(torch, shifted, scored);
    return logProbs(torch, net, rows, torch.empty([scored], "int64"));
  });
};

function tile(torch: Torch, net: Net, rows: Tensor): Tensor {
  const dtype = torch.autocast?.dtype ?? rows.dtype;
  return torch.empty(
    [Math.min(rows.shape[0]!, TILE_TOKENS), Math.min(TILE_VOCABULARY, net.vocabulary)],
    dtype,
  );
}

/** The tile of the head's weight in the compute type, where that is not its own. */
function weightTile(torch: Torch, net: Net): Tensor | null {
  const { weight } = net.head;
  const dtype = torch.autocast?.dtype;
  if (!dtype || weight.dtype === dtype) return null;
  return torch.empty([Math.min(TILE_VOCABULARY, net.vocabulary), weight.shape[1]!], dtype);
}

function logProbs(torch: Torch, net: Net, rows: Tensor, targets: Tensor): Tensor {
  const { weight } = net.head;
  const [tokens, width] = rows.shape as [number, number];
  const statistics = Array.from({ length: 7 }, () => torch.empty([tokens], "fp32"));
  const logits = tile(torch, net, rows);
  torch.consume(weightTile(torch, net));
  const dtype = logits.dtype;
  torch.multiply(tokens, net.vocabulary, width, dtype);
  const logZ = torch.empty([tokens], "fp32");
  const entropy = torch.empty([tokens], "fp32");
  for (const t of statistics) torch.consume(t);
  torch.consume(logits);
  const loss = torch.empty([], "fp32");
  if (torch.tracks([rows, weight])) {
    const saved = torch.save([rows, weight, targets, logZ, entropy]);
    torch.record("ChunkedLogProbBackward", [loss], [rows, weight], saved, (_grads, needs) => {
      const gradRows = needs[0] ? torch.empty(rows.shape, "fp32") : null;
      const gradWeight = needs[1] ? torch.empty(weight.shape, "fp32") : null;
      const buffer = tile(torch, net, rows);
      const part = weightTile(torch, net);
      torch.multiply(tokens, net.vocabulary, width, dtype);
      if (gradRows) torch.multiply(tokens, width, net.vocabulary, dtype);
      if (gradWeight) torch.multiply(net.vocabulary, width, tokens, dtype);
      torch.consume(part);
      const outRows = gradRows ? narrowed(torch, gradRows, rows) : null;
      const outWeight = gradWeight ? narrowed(torch, gradWeight, weight) : null;
      torch.consume(buffer);
      for (const [wide, out] of [
        [gradRows, outRows],
        [gradWeight, outWeight],
      ] as const)
        if (wide !== out) torch.consume(wide);
      return [outRows, outWeight];
    });
  }
  torch.consume(logZ);
  torch.consume(entropy);
  torch.consume(rows);
  torch.consume(targets);
  return loss;
}

function narrowed(torch: Torch, wide: Tensor, like: Tensor): Tensor {
  return wide.dtype === like.dtype ? wide : torch.empty(wide.shape, like.dtype);
}
