import { divideInPlace, gatherRows, groupedMm, maskedFill, sort, sumDim, topk } from "../autograd/gather.ts";
import { linear } from "../autograd/matmul.ts";
import { mul, softmax } from "../autograd/pointwise.ts";
import type { Tensor } from "../autograd/tensor.ts";
import type { Torch } from "../autograd/torch.ts";
import { reshape, split, to, unsqueeze, view } from "../autograd/views.ts";
import type { Activation } from "./activations.ts";
import type { Builder } from "./layers.ts";
import type { Mlp } from "./mlp.ts";

export interface ExpertsShape {
  readonly hidden: number;
  readonly inner: number;
  readonly experts: number;
  /** Experts a token goes to. */
  readonly chosen: number;
  readonly activation: Activation;
  /** The chosen probabilities are divided by their sum. */
  readonly normalised: boolean;
  /** The router's scores are cast to the type of its logits. */
  readonly castScores: boolean;
  /** Which module the constructor makes first; it is also first in memory. */
  readonly first: "gate" | "experts";
}

/** A mixture of experts as transformers 5 runs it by default (`grouped_mm`). */
export function expertsMlp(b: Builder, s: ExpertsShape): Mlp {
  const [gate, gateUp, down] = b.in("mlp", () => {
    const router = (): Tensor => b.parameter("gate.weight", [s.experts, s.hidden]);
    const before = s.first === "gate" ? router() : null;
    const gateUp = b.parameter("experts.gate_up_proj", [s.experts, 2 * s.inner, s.hidden]);
    const down = b.parameter("experts.down_proj", [s.experts, s.hidden, s.inner]);
    return [before ?? router(), gateUp, down] as const;
  });
  return ({ torch }, x) =>
    torch.module("mlp", [x], () => {
      const rows = torch.let(view(torch, x, [-1, s.hidden]));
      const [logits, scores, chosen] = route(torch, s, rows, gate);
      torch.let(logits);
      torch.let(scores);
      torch.let(chosen);
      const out = torch.let(
        torch.module("experts", [rows, chosen, scores], () =>
          dispatch(torch, s, rows, chosen, scores, gateUp, down),
        ),
      );
      return reshape(torch, out, x.shape);
    });
}

/** The router: logits, scores and numbers of the chosen experts. */
function route(torch: Torch, s: ExpertsShape, x: Tensor, weight: Tensor): readonly [Tensor, Tensor, Tensor] {
  return torch.module("gate", [x], () => {
    const rows = torch.let(reshape(torch, x, [-1, s.hidden]));
    const logits = torch.let(linear(torch, rows, weight, null));
    const probabilities = torch.let(softmax(torch, logits, "fp32"));
    const [top, chosen] = topk(torch, probabilities, s.chosen);
    torch.let(chosen);
    let scores = torch.let(top);
    if (s.normalised)
      scores = torch.set(scores, divideInPlace(torch, scores, sumDim(torch, scores, -1, true)));
    if (s.castScores) scores = torch.set(scores, to(torch, scores, logits.dtype));
    return [logits, scores, chosen];
  }) as unknown as readonly [Tensor, Tensor, Tensor];
}

/**
 * transformers' grouped_mm_experts_forward: token copies sorted by expert, two grouped products, back in order,
 * summed. Sizes depend on tokens × chosen experts, not on how tokens spread.
 */
function dispatch(
  torch: Torch,
  s: ExpertsShape,
  x: Tensor,
  chosen: Tensor,
  scores: Tensor,
  gateUp: Tensor,
  down: Tensor,
): Tensor {
  const tokens = x.shape[0]!;
  const copies = tokens * s.chosen;
  const weights = torch.let(reshape(torch, scores, [-1]));
  const ids = torch.let(reshape(torch, chosen, [-1]));
  const [sorted, order] = sort(torch, ids);
  torch.let(sorted);
  torch.let(order);
  let selected = torch.let(gatherRows(torch, x, torch.empty([copies], "int64")));
  const sortedWeights = torch.let(gatherRows(torch, weights, order));
  torch.let(torch.empty([copies], "int32"));
  torch.let(torch.empty([s.experts], "int32"));
  const offsets = torch.let(torch.empty([s.experts], "int32"));
  const sentinel = torch.let(torch.empty([copies, 1], "bool"));
  selected = torch.set(selected, maskedFill(torch, selected, sentinel, true));
  let out = torch.let(groupedMm(torch, selected, gateUp, offsets));
  out = torch.set(out, maskedFill(torch, out, sentinel));
  out = torch.set(out, gated(torch, s, out));
  out = torch.set(out, groupedMm(torch, out, down, offsets));
  out = torch.set(out, maskedFill(torch, out, sentinel));
  let weighted = torch.let(mul(torch, out, unsqueeze(torch, sortedWeights, -1)));
  const inverse = torch.let(torch.empty([copies], "int64"));
  torch.consume(torch.empty([copies], "int64"));
  weighted = torch.set(weighted, gatherRows(torch, weighted, inverse));
  const sums = torch.let(sumDim(torch, view(torch, weighted, [tokens, s.chosen, s.hidden]), 1));
  return to(torch, sums, x.dtype);
}

function gated(torch: Torch, s: ExpertsShape, both: Tensor): Tensor {
  return torch.frame(() => {
    const [gate, up] = split(torch, both, [s.inner, s.inner], -1) as [Tensor, Tensor];
    torch.let(gate);
    torch.let(up);
    return mul(torch, s.activation(torch, gate), up);
  });
}
