import { hasStars, isTrue, keyword } from "../../python/file.ts";
import { ancestors, lastWord } from "../../python/nodes.ts";
import type { PythonFile } from "../../python/file.ts";
import type { Call, Expr, Node } from "../../python/tree.ts";
import { addKeyword } from "../edits.ts";
import { entriesOf, entry, given, literalDict, settingsOf } from "../facts/arguments.ts";
import { assignsBeyondNames } from "../facts/assigns.ts";
import { isSelf } from "../facts/classes.ts";
import { defaultOf } from "../facts/behind-options.ts";
import type { Facts } from "../facts/facts.ts";
import { literal } from "../facts/options.ts";
import { localName } from "../imports.ts";
import type { Finding, Rule } from "../rule.ts";

const FP4 = 'The default 4-bit type is fp4; "nf4" fits normally distributed weights better at the same size';
const FLOAT32 = "The 4-bit weights are computed with in float32: several times slower than in bfloat16";

/** A comparison, a setting, or `bool(settings.get("load_in_4bit", True))`. */
function isAsked(expr: Expr): boolean {
  if (expr.kind === "Subscript") return true;
  // `bits == 4 or load_in_4bit`
  if (expr.kind === "Bool") return expr.values.every(isAsked);
  if (expr.kind !== "Call") return /^(?:Compare|Name|Attribute)$/.test(expr.kind);
  const [first, second] = expr.args;
  if (expr.func.kind === "Name")
    return expr.func.id === "bool" && first !== undefined && isAsked(first.value);
  return expr.func.kind === "Attribute" && expr.func.attr === "get" && isTrue(second?.value ?? null);
}

export const rule: Rule = {
  meta: {
    code: "PLM063",
    name: "four-bit-defaults",
    summary: "4-bit weights computed in float32, or kept in fp4, because nothing else was said",
    severity: "warning",
    fix: "unsafe",
    patterns: [63],
  },
  *check(facts) {
    const { file, project } = facts;
    if (facts.guesses) yield* likely(facts);
    if (
      file.callsNamed("BitsAndBytesConfig", "Linear4bit").length === 0 &&
      (file.callsNamed("from_pretrained").length === 0 ||
        (!file.mentions("device_map") && !file.mentions("load_in_4bit")))
    )
      return;
    for (const call of file.callsNamed("Linear4bit"))
      if (
        /^bitsandbytes\.nn\.(?:modules\.)?Linear4bit$/.test(file.dotted(call.func) ?? "") &&
        !keyword(call, "quant_type") &&
        !hasStars(call) &&
        // Its sixth parameter.
        call.args.length < 6
      )
        yield { at: call.func, severity: "note", message: FP4 };
    for (const call of file.callsNamed("BitsAndBytesConfig")) {
      if (!/^(?:transformers|diffusers)\.(?:\w+\.)*BitsAndBytesConfig$/.test(file.dotted(call.func) ?? ""))
        continue;
      const settings = settingsOf(call, file);
      const four = settings?.get("load_in_4bit") ?? null;
      // `load_in_4bit=bits == 4`: sometimes, and then like this.
      const sometimes = four !== null && isAsked(four);
      if (!settings || (!isTrue(four) && !sometimes)) continue;
      const torch = localName(file, "torch");
      const compute = settings.get("bnb_4bit_compute_dtype");
      const type = settings.get("bnb_4bit_quant_type");
      const written = call.args.every((arg) => arg.star === 0);
      if (!compute || isFloat32(compute, facts))
        yield {
          at: compute ?? call.func,
          ...(compute || sometimes || isChosen(call, facts) ? { severity: "note" as const } : {}),
          message: compute
            ? FLOAT32
            : `Without \`bnb_4bit_compute_dtype\` the 4-bit weights are computed with in float32`,
          ...(written && !compute
            ? {
                fix: {
                  grade: "unsafe" as const,
                  title: "Compute in bfloat16",
                  edits: addKeyword(call, `bnb_4bit_compute_dtype=${torch ?? "torch"}.bfloat16`, file),
                  ...(torch === null ? { imports: ["import torch"] } : {}),
                },
              }
            : {}),
        };
      else if (!type || usually(type, facts) === "fp4")
        yield {
          at: type ?? call.func,
          severity: "note",
          message: FP4,
          // What an option says is for whoever starts it to change.
          ...((type ? type.kind === "Str" : written)
            ? {
                fix: {
                  grade: "unsafe" as const,
                  title: "Use nf4",
                  edits: type
                    ? [{ start: type.start, end: type.end, text: '"nf4"' }]
                    : addKeyword(call, 'bnb_4bit_quant_type="nf4"', file),
                },
              }
            : {}),
        };
    }
    for (const call of file.callsNamed("from_pretrained")) {
      const own = settingsOf(call, file);
      // `quantization_config={"load_in_4bit": True}`
      const inner = own?.get("quantization_config");
      const dict = inner ? literalDict(inner, file) : null;
      const settings = dict ? entriesOf(dict) : own;
      const flag = settings?.get("load_in_4bit") ?? null;
      if (
        call.func.kind !== "Attribute" ||
        call.func.attr !== "from_pretrained" ||
        !settings ||
        !flag ||
        !isTrue(flag) ||
        // Other libraries have other defaults.
        !/^(?:transformers|peft|diffusers|trl)\./.test(file.dotted(call.func) ?? "")
      )
        continue;
      if (settings.has("quantization_config") || settings.has("bnb_4bit_compute_dtype")) continue;
      // Activations in bfloat16 are computed with as they are; in float16 the default of float32 stays.
      const dtype = keyword(call, "torch_dtype") ?? keyword(call, "dtype");
      if (dtype && /bfloat16|bf16/.test(file.textOf(dtype.value))) {
        yield { at: flag, severity: "note", message: FP4 };
        continue;
      }
      yield {
        at: flag,
        message:
          "Asked for like this the 4-bit weights are fp4 and are computed with in float32; say both in a `BitsAndBytesConfig`",
      };
    }
    // Who asks where the layers went spreads them on purpose.
    if (file.mentions("hf_device_map") || file.mentions("dispatch_model")) return;
    const parallel = file.says(
      /DistributedDataParallel|ddp_find_unused_parameters|\.prepare\(|init_process_group/,
    );
    // Who asks how many processes there are was written for several, too.
    if (!parallel && !file.says(/["'](?:WORLD_SIZE|LOCAL_RANK)["']/) && !project.ranked.has(file.module))
      return;
    for (const call of file.callsNamed("from_pretrained")) {
      // `**model_kwargs` as well.
      const map = given(call, "device_map", file);
      if (
        map &&
        (usually(map, facts) === "auto" || (facts.guesses && mayBeAuto(map, file))) &&
        call.func.kind === "Attribute" &&
        call.func.attr === "from_pretrained" &&
        !isOfOneProcess(call, file) &&
        !isOfOneProcess(map, file)
      )
        yield {
          at: map.parent?.kind === "Arg" ? map.parent : map,
          ...(parallel && (map.kind === "Str" || map.kind === "Name") ? {} : { severity: "note" as const }),
          message:
            '`device_map="auto"` spreads one model over all devices, yet each process of data-parallel training wants its own copy on its own device',
        };
    }
  },
  *checkConfig(config) {
    for (const setting of config.settings)
      if (/^(?:bnb_4bit_quant_type|quantization_type)$/.test(setting.key) && setting.value === "fp4")
        yield { at: setting.valueAt, severity: "note", message: FP4 };
      else if (
        setting.key === "bnb_4bit_compute_dtype" &&
        /^(?:torch\.)?float(?:32)?$/.test(String(setting.value))
      )
        yield { at: setting.valueAt, severity: "note", message: FLOAT32 };
      else if (setting.key === "load_in_4bit" && setting.value === true) {
        // Handed to transformers as it is: axolotl and others fill in what is missing by themselves.
        const at = setting.path.slice(0, -"load_in_4bit".length);
        const beside = config.settings.filter(({ path }) => path.startsWith(at));
        const whole =
          /(?:^|\.)(?:quantization_config|bnb_config)\.$/.test(at) ||
          beside.some(({ key, value }) => key === "_target_" && String(value).endsWith("BitsAndBytesConfig"));
        const says = (wanted: string): boolean => beside.some(({ key }) => key === wanted);
        if (whole && !says("bnb_4bit_compute_dtype"))
          yield {
            at: setting.keyAt,
            message: "Without `bnb_4bit_compute_dtype` the 4-bit weights are computed with in float32",
          };
        else if (whole && !says("bnb_4bit_quant_type"))
          yield { at: setting.keyAt, severity: "note", message: FP4 };
      }
  },
};

/**
 * Asked for 4 bits wherever, and nowhere in the file what to compute with, or in which type to keep them: in a call, a dict, an
 * entry or an attribute of settings. A library that says both by itself needs neither.
 */
function* likely(facts: Facts): Generator<Finding> {
  const { file } = facts;
  if (!file.mentions("load_in_4bit") && !file.mentions("Params4bit")) return;
  if (file.says(/unsloth|llamafactory|axolotl/i)) return;
  for (const call of file.callsNamed("Params4bit"))
    if (!keyword(call, "quant_type") && !hasStars(call)) yield { at: call.func, message: FP4 };
  const computes = file.says(/bnb_4bit_compute_dtype/);
  if (computes && file.says(/bnb_4bit_quant_type/)) return;
  const message = computes
    ? FP4
    : "Without `bnb_4bit_compute_dtype` the 4-bit weights are computed with in float32";
  for (const { at, value } of askedFor(file)) if (isTrue(value) || isAsked(value)) yield { at, message };
}

interface Asked {
  readonly at: Node;
  readonly value: Expr;
}

/** `Config(load_in_4bit=…)`, `{"load_in_4bit": …}`, `kwargs["load_in_4bit"] = …`, `config.load_in_4bit = …` */
function askedFor(file: PythonFile): readonly Asked[] {
  const key = "load_in_4bit";
  const given = file.calls
    .given([key])
    .filter(({ func }) => /Config$|^(?:from_pretrained|dict|update|partial)$/.test(lastWord(func)))
    .map((call) => keyword(call, key)!);
  const written = file.all("Dict").flatMap((dict) => {
    const value = entry(dict, key);
    return value ? [{ at: value, value }] : [];
  });
  const put = assignsBeyondNames(file).flatMap(({ targets, value }) =>
    targets.some((one) =>
      one.kind === "Subscript"
        ? one.index.kind === "Str" && one.index.value === key
        : one.kind === "Attribute" && one.attr === key && !isSelf(one.value),
    )
      ? [{ at: value, value }]
      : [],
  );
  return [...given.map((arg) => ({ at: arg, value: arg.value })), ...written, ...put];
}

function isFloat32(expr: Expr, facts: Facts): boolean {
  const { file } = facts;
  const made = expr.kind === "Name" ? file.scopes.onlyValue(expr) : null;
  if (made && made.kind !== "Name") return isFloat32(made, facts);
  // `getattr(torch, args.compute_dtype)`
  const asked =
    expr.kind === "Call" && file.dotted(expr.func) === "builtins.getattr" ? expr.args[1]?.value : undefined;
  const name = file.dotted(expr) ?? usually(asked ?? expr, facts);
  return name === "float32" || name === "torch.float32" || name === "torch.float";
}

/** A text written down here, by a name that is always that, or of an option nobody has changed. */
function usually(expr: Expr, facts: Facts): string | null {
  const { file, project } = facts;
  const definitions = expr.kind === "Name" ? (file.scopes.lookup(expr)?.definitions ?? []) : [];
  const [one, ...more] = definitions;
  const value = one && more.length === 0 && one.how === "assign" ? one.value : expr;
  const said = value && (value.kind === "Attribute" ? defaultOf(value, file, project) : literal(value));
  return typeof said === "string" ? said : null;
}

const SPREADS = /^(?:auto|balanced(?:_low_0)?|sequential)$/;

/** What a name may be here, by whichever way it came, and another way of spreading. */
function mayBeAuto(map: Expr, file: PythonFile): boolean {
  const isSpread = (value: Expr | null): boolean =>
    value?.kind === "Str" && SPREADS.test(value.value ?? "") && !isOfOneProcess(value, file);
  if (map.kind !== "Name") return isSpread(map);
  const ways = file.scopes.reaching(map);
  return (
    ways.some(({ node, value }) => isSpread(node.kind === "Param" ? node.default : value)) &&
    // `if world_size > 1: device_map = {"": local_rank}`
    !ways.some(({ node }) => isOfOneProcess(node, file))
  );
}

/** Under a test that may tell one process from many. */
function isOfOneProcess(node: Node, file: PythonFile): boolean {
  return ancestors(node).some(
    (at) =>
      (at.kind === "If" || at.kind === "IfExp") &&
      /world|rank|distrib|ddp|fsdp|deepspeed|zero|device|gpu|cuda|process|parallel|multi|local|launch/i.test(
        file.textOf(at.test),
      ),
  );
}

/** `from_pretrained(…, torch_dtype=torch.float32, quantization_config=BitsAndBytesConfig(…))`: float32 was asked for. */
function isChosen(call: Call, facts: Facts): boolean {
  const { file } = facts;
  const taker = call.parent?.kind === "Arg" ? call.parent.parent : null;
  if (taker?.kind !== "Call") return false;
  const given = (keyword(taker, "torch_dtype") ?? keyword(taker, "dtype"))?.value ?? null;
  const type = given?.kind === "Name" ? file.scopes.onlyValue(given) : given;
  return type !== null && isFloat32(type, facts);
}
