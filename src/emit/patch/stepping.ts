import type { OptimizerName } from "../../optimizers/optimizers.ts";
import { addBefore, removeArgument } from "./edit.ts";
import { replace, setKeyword } from "./keyword.ts";
import { argument, type Edits, type Stage, together } from "./stage.ts";

/** torch.optim.AdamW's keyword for each of its ways (torch 2.13, optim/adamw.py). */
const TORCH: Partial<Record<OptimizerName, readonly [string, boolean]>> = {
  adamw_fused: ["fused", true],
  adamw_loop: ["foreach", false],
};

/** bitsandbytes 0.50, optim/adamw.py and lion.py. */
const BITSANDBYTES: Partial<Record<OptimizerName, string>> = {
  adamw_bnb_8bit: "AdamW8bit",
  paged_adamw: "PagedAdamW32bit",
  paged_adamw_8bit: "PagedAdamW8bit",
  lion_8bit: "Lion8bit",
};

/** What torch.optim.AdamW and bitsandbytes' optimizers both take, by the same name. */
const SHARED = new Set(["params", "lr", "betas", "eps", "weight_decay"]);
/** Only torch's. */
const TORCH_ONLY = new Set(["fused", "foreach"]);

export function stepping(stage: Stage): Edits {
  const { parts, wanted, where } = stage;
  if (parts.args) return argument(stage, "optim");
  const { optimizer } = parts;
  if (!optimizer?.call) return null;
  const { call, script } = optimizer;
  const keyword = TORCH[wanted.optimizer];
  if (keyword && script.file.dotted(call.func) === "torch.optim.AdamW")
    return setKeyword(optimizer, keyword[0], keyword[1], parts, where);
  const name = BITSANDBYTES[wanted.optimizer];
  const named = call.args.filter((arg) => arg.name !== null);
  const passed =
    call.args.every((arg) => arg.star === 0) &&
    named.every((arg) => SHARED.has(arg.name!) || TORCH_ONLY.has(arg.name!));
  const first = script.file.tree.module.body.find(({ kind }) => kind === "Import" || kind === "ImportFrom");
  if (!name || !passed || !first || call.args.length - named.length > 1) return null;
  const known = script.file
    .all("Import")
    .flatMap(({ names }) => names)
    .find((one) => one.name === "bitsandbytes");
  return together(
    ...named.filter((arg) => TORCH_ONLY.has(arg.name!)).map((arg) => removeArgument(call, arg, script)),
    known ? [] : addBefore(first, ["import bitsandbytes"], script),
    replace({ expr: call.func, script }, `${known?.as ?? "bitsandbytes"}.optim.${name}`),
  );
}
