import { lastWord } from "../../python/nodes.ts";
import type { Call, Name, Node } from "../../python/tree.ts";
import type { Facts } from "./facts.ts";
import { callTarget } from "./summary.ts";

/** `logits.argmax(-1)`, `torch.max(logits, 1)`, `logits.detach().topk(5)`: which is the largest, for the accuracy; it holds no logits. */
export function pickOf(use: Name, { file }: Facts): Call | null {
  let at: Node = use;
  for (;;) {
    const up: Node | null = at.parent;
    if (up?.kind === "Subscript" && up.value === at) at = up;
    else if (up?.kind === "Attribute" && (up.attr === "data" || up.attr === "logits")) at = up;
    else if (up?.kind === "Attribute" && up.parent?.kind === "Call" && up.parent.func === up) {
      if (isPicking(up.attr, up.parent, 0)) return up.parent;
      if (!/^(?:detach|float|view|reshape|transpose|permute|flatten|contiguous)$/.test(up.attr)) return null;
      at = up.parent;
    } else if (up?.kind === "Arg" && up.parent?.kind === "Call" && up.parent.args[0] === up)
      return (file.dotted(up.parent.func) ?? "").startsWith("torch.") &&
        isPicking(lastWord(up.parent.func), up.parent, 1)
        ? up.parent
        : null;
    else return null;
  }
}

/** `logits[0].detach().softmax(-1).cpu()`, for a picture or a log: what is read there is not held. */
export const isCopiedToHost = (use: Name, facts: Facts): boolean =>
  comesTo(use, /^(?:cpu|item|tolist)$/, facts);

/** `maps.detach()[:, 0].sum(-1).mean()`, `-(probs * logs).sum(-1)`, `torch.std(logits)`: a few numbers. */
export const isSummed = (use: Name, facts: Facts): boolean =>
  comesTo(use, /^(?:mean|std|var|sum|norm|max|min|amax|amin|logsumexp|item|tolist)$/, facts);

/** `compute_metrics(output, labels)`: numbers. */
export function isMeasured({ parent }: Name): boolean {
  const call = parent?.kind === "Arg" ? parent.parent : null;
  if (call?.kind !== "Call") return false;
  const { func } = call;
  // `iou_metric.update(probs, masks)`, `metrics.evaluate(probs, masks)`
  const by =
    func.kind === "Attribute" && /^(?:update|evaluate|add|add_batch)$/.test(func.attr) ? func.value : func;
  return MEASURES.test(lastWord(by));
}

/** What writes pictures, sounds and figures down: by whom, or by what it is called. */
const KEEPS_A_RECORD =
  /(?:^|[._])(?:logger|writer|tensorboard|wandb|tb|vis(?:dom)?|plt|axe?s?)\.|(?:^|[._])(?:imshow|(?:im)?save|plot|draw|write|visuali[sz]e|log|print)(?:_(?!softmax|prob|sum|sigmoid)\w+)?$|(?:^|\.)(?:make_grid|add_(?:image|figure|audio|video|histogram)\w*|(?:\w+_)?to_pil(?:_image)?|Image|Video|Audio|Histogram)$/i;

/** `save_image(recon[:8], path)`, `writer.add_images("recon", recon)` */
export function isDrawn(use: Name, { file }: Facts): boolean {
  let at: Node = use;
  while (at.parent && at.parent.kind !== "Arg" && at.parent.kind !== "ExprStmt") at = at.parent;
  const call = at.parent?.kind === "Arg" ? at.parent.parent : null;
  return call?.kind === "Call" && KEEPS_A_RECORD.test(file.textOf(call.func));
}

const MEASURES =
  /metrics?(?:_|$)|accurac|(?:^|_)acc(?:_|$)|perplexity|(?:^|_)(?:f1|m?iou|dice|psnr|ssim)(?:_|$)/i;

/** Through parts and methods of it, and through arithmetic, one of these methods is called. */
function comesTo(use: Name, method: RegExp, { file }: Facts): boolean {
  let at: Node = use;
  for (;;) {
    const up: Node | null = at.parent;
    if (up?.kind === "Subscript" && up.value === at) at = up;
    else if (up?.kind === "Attribute" && up.attr === "logits") at = up;
    else if (up?.kind === "Attribute" && up.parent?.kind === "Call" && up.parent.func === up) {
      if (method.test(up.attr)) return true;
      at = up.parent;
    } else if (up?.kind === "Binary" || (up?.kind === "Unary" && up.op === "-")) at = up;
    else if (up?.kind === "Arg" && up.parent?.kind === "Call" && up.parent.args[0] === up) {
      const name = /^torch\.(?:nn\.functional\.|special\.)?(\w+)$/.exec(
        file.dotted(up.parent.func) ?? "",
      )?.[1];
      if (name === undefined) {
        // `off_diagonal(cross).mean()`, by a function of this file.
        if (up.parent.func.kind !== "Name" || !file.functionNamed(callTarget(up.parent, file))) return false;
      } else if (method.test(name)) return true;
      else if (!/^(?:(?:log_)?softmax|exp|log|abs|square|sqrt|sigmoid|entr|xlogy|diag(?:onal)?)$/.test(name))
        return false;
      at = up.parent;
    } else return false;
  }
}

/** Of `max` only the one along a dimension, which gives the places too. */
function isPicking(name: string, { args }: Call, others: number): boolean {
  return name === "argmax" || name === "topk" || (name === "max" && args.length > others);
}
