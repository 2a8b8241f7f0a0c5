import type { OptimizerName } from "../optimizers/optimizers.ts";
import type { Draft } from "./draft.ts";
import { type Located, Unread, placeText, show } from "./located.ts";
import { nameOf } from "./words.ts";

/** TrainingArguments' `optim` (transformers 5.17, training_args.py, OptimizerNames), where plans have the same. */
const TRAINER: Readonly<Record<string, OptimizerName>> = {
  adamw_torch: "adamw_foreach",
  adamw_torch_fused: "adamw_fused",
  adamw_torch_8bit: "adamw_torchao_8bit",
  adamw_bnb_8bit: "adamw_bnb_8bit",
  adamw_8bit: "adamw_bnb_8bit",
  paged_adamw: "paged_adamw",
  paged_adamw_32bit: "paged_adamw",
  paged_adamw_8bit: "paged_adamw_8bit",
  lion_32bit: "lion",
  lion_8bit: "lion_8bit",
  adafactor: "adafactor",
  sgd: "sgd",
};

/** The nearest that plans have, and in what it differs. */
const NEAREST: Readonly<Record<string, readonly [OptimizerName, string]>> = {
  adamw_torch_4bit: ["adamw_torchao_8bit", "its state is smaller than the 8-bit one planned"],
  adamw_anyprecision: ["adamw_foreach", "its state types are set by optim_args"],
  paged_lion_32bit: ["lion", "its state may be paged out"],
  paged_lion_8bit: ["lion_8bit", "its state may be paged out"],
  adagrad: ["sgd_momentum", "one number of state a parameter, as SGD with momentum has"],
  rmsprop: ["sgd_momentum", "one number of state a parameter, as SGD with momentum has"],
  rmsprop_bnb: ["lion", "one number of state a parameter, as Lion has"],
  rmsprop_bnb_32bit: ["lion", "one number of state a parameter, as Lion has"],
  rmsprop_bnb_8bit: ["lion_8bit", "one number of state a parameter, as Lion has"],
};

const OWN = new Set<string>([
  "adamw_foreach",
  "adamw_fused",
  "adamw_loop",
  "adamw_torchao_8bit",
  "lion",
  "sgd_momentum",
]);

/** Reads an optimizer's name as TrainingArguments spells it. */
export function takeOptimizerName(draft: Draft, key: string, at: Located | undefined): void {
  if (!at || at.value === null) return;
  const given = at.value instanceof Unread ? at.value.guess?.value : at.value;
  const word = given === undefined ? undefined : nameOf(given);
  const name = word?.replace(/^.*\./, "").toLowerCase().replaceAll("-", "_");
  if (name === undefined) {
    const why = at.value instanceof Unread ? at.value.why : `is ${show(at.value)}`;
    draft.assume("optimizer", "adamw_fused", `${key} (${placeText(at.place)}): ${why}`);
    return;
  }
  const known = TRAINER[name] ?? (OWN.has(name) ? (name as OptimizerName) : undefined);
  if (known && at.value instanceof Unread)
    draft.assume("optimizer", known, `${key} (${placeText(at.place)}): ${at.value.why}`);
  else if (known) draft.set("optimizer", known, key, at.place);
  else {
    const [nearest, difference] = NEAREST[name] ?? [
      "adamw_fused",
      "plans do not model it: AdamW's state is taken",
    ];
    draft.assume("optimizer", nearest, `${key} is ${name} (${placeText(at.place)}): ${difference}`);
  }
}

/**
 * The optimizer a class makes: torch.optim's, bitsandbytes', torchao's, Lion's. PyTorch steps AdamW with foreach
 * on CUDA unless told otherwise (torch/optim/adamw.py).
 */
export function takeOptimizerClass(
  draft: Draft,
  callee: string,
  options: ReadonlyMap<string, Located>,
  place: Located["place"],
): void {
  const name = callee.slice(callee.lastIndexOf(".") + 1);
  const flag = (key: string): unknown => options.get(key)?.value;
  const set = (value: OptimizerName): void => draft.set("optimizer", value, callee, place);
  const bits8 = /8bit$/i.test(name) || flag("optim_bits") === 8;
  const host = /DeepSpeedCPUAdam|CPUOffloadOptimizer/.test(name);
  if (host) {
    draft.set("optimizerOnHost", true, callee, place);
    return set("adamw_fused");
  }
  const bitsandbytes = /^(?:bnb|bitsandbytes)\b/.test(callee) || /(?:8bit|32bit)$/.test(name);
  const paged = name.startsWith("Paged") || flag("is_paged") === true;
  if (/^(?:Paged)?Lion/.test(name)) return set(bits8 ? "lion_8bit" : "lion");
  if (/^Adafactor/i.test(name)) return set("adafactor");
  if (name.startsWith("SGD")) {
    const momentum = flag("momentum");
    return set(typeof momentum === "number" && momentum > 0 ? "sgd_momentum" : "sgd");
  }
  if (/Adam/.test(name)) {
    if (callee.startsWith("torchao")) return set("adamw_torchao_8bit");
    if (bitsandbytes) {
      if (paged) return set(bits8 ? "paged_adamw_8bit" : "paged_adamw");
      if (bits8) return set("adamw_bnb_8bit");
      draft.assume(
        "optimizer",
        "paged_adamw",
        `${callee} (${placeText(place)}): its unpaged form is not modelled`,
      );
      return;
    }
    if (flag("fused") === true) return set("adamw_fused");
    return set(flag("foreach") === false ? "adamw_loop" : "adamw_foreach");
  }
  draft.assume(
    "optimizer",
    "adamw_foreach",
    `${callee} (${placeText(place)}): plans do not model it: AdamW's state is taken`,
  );
}
