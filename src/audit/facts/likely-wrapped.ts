import type { PythonFile } from "../../python/file.ts";
import { ancestors, contains, functionOf } from "../../python/nodes.ts";
import type { Call, Name, Node } from "../../python/tree.ts";
import { isOnByDefault, optionBehind } from "./behind-options.ts";
import type { Facts } from "./facts.ts";
import { freezes } from "./freezing.ts";
import type { PartsAlone } from "./left-parts.ts";
import { SWITCH, isRun, optimisedParts } from "./likely-parts.ts";
import { moved } from "./naming.ts";
import { isParameterless } from "./optimised.ts";

/** What keeps a part of the whole from learning, or takes it in. */
const CUTS = /no_grad|inference_mode|detach|requires_grad|freez|frozen|\.eval\(/;

/**
 * `model = Probe(backbone, head)` and `SGD(head.parameters())`: the whole is run, and the backbone is frozen only by being left out,
 * or where an option is off by which it learns as well.
 */
export function* likelyWrapped(facts: Facts): Generator<PartsAlone> {
  const { file } = facts;
  const given = optimisedParts(facts);
  const told = new Set<string>();
  for (const { at, network, chosen } of given) {
    if (chosen || network.kind !== "Name" || optionBehind(at, file, facts.project)) continue;
    const home = functionOf(network);
    const isGiven = ({ id }: Name): boolean =>
      given.some((one) => functionOf(one.network) === home && file.textOf(one.network) === id);
    for (const { whole, rest } of wrappedWith(network, facts)) {
      const key = `${whole.start}`;
      if (told.has(key) || isGiven(whole) || rest.some(isGiven)) continue;
      const left = rest.find((one) => isLeftOut(one, at, facts));
      if (!left || !isRun(whole, facts) || isHandedOn([left.id, whole.id], home, file)) continue;
      const code = withoutTexts(file.codeOf(home ?? file.tree.module)).replaceAll(SWITCH, "");
      if ([left.id, whole.id].some((name) => freezes(code, name))) continue;
      told.add(key);
      yield { at, parts: [network.id], network: whole.id };
    }
  }
}

/** `add_groups(optimizer, backbone)`, `freeze_stages(model)`: who is handed it may see to it. */
function isHandedOn(names: readonly string[], home: Node | null, file: PythonFile): boolean {
  return file.calls
    .matching(/optim|group|freez|frozen|requires_grad|trainable/i)
    .some(
      (call) =>
        functionOf(call) === home &&
        call.args.some(({ value }) => value.kind === "Name" && names.includes(value.id)),
    );
}

/** A network that is made of others, which have names. */
interface Wrapped {
  readonly whole: Name;
  readonly rest: readonly Name[];
}

/** `Probe(backbone, head)` of a class of this file that cuts nothing off, and `nn.Sequential(backbone, head)`. */
function wrappedWith(part: Name, { file }: Facts): readonly Wrapped[] {
  const home = functionOf(part);
  return file.all("Assign").flatMap(({ targets: [target, ...more], value }) => {
    const made = moved(value);
    if (target?.kind !== "Name" || more.length > 0 || made.kind !== "Call") return [];
    if (functionOf(value) !== home || !mayWrap(made, file)) return [];
    const parts = made.args.flatMap(({ value: one }) => (one.kind === "Name" ? [one] : []));
    return parts.some(({ id }) => id === part.id) && target.id !== part.id
      ? [{ whole: target, rest: parts.filter(({ id }) => id !== part.id && id !== target.id) }]
      : [];
  });
}

function mayWrap({ func }: Call, file: PythonFile): boolean {
  const name = file.dotted(func);
  if (name === "torch.nn.Sequential") return true;
  const cls = file.all("ClassDef").find((one) => file.qualified(one) === name);
  return cls !== undefined && !CUTS.test(file.codeOf(cls));
}

/** A network with a name, whose parameters nobody asks for but under a test that the optimizer does not stand under. */
function isLeftOut(network: Name, at: Node, facts: Facts): boolean {
  const { file } = facts;
  const { id } = network;
  const made = file.scopes.reaching(network);
  const isMade =
    made.length > 0 &&
    made.every(({ how, value }) => (how === "assign" || how === "unpack") && value?.kind === "Call");
  if (!isMade || isParameterless(network, file) || !(facts.networks.is(network) || NETWORKS.test(id)))
    return false;
  return file
    .callsNamed("parameters", "named_parameters")
    .filter(
      ({ func }) =>
        func.kind === "Attribute" &&
        func.value.kind === "Name" &&
        func.value.id === id &&
        functionOf(func) === functionOf(network),
    )
    .every(
      (call) =>
        !onByDefault(call, facts) &&
        ancestors(call).some(
          (above) => above.kind === "If" && !contains(above, at) && above.orelse.length === 0,
        ),
    );
}

/** What networks are called that a head is put on. */
const NETWORKS =
  /^(?:\w+_)?(?:backbone|encoder|trunk|body|base(?:_model)?|feature_?extractor|bert|resnet\w*|vit\w*|unet|clip\w*)$/i;

/** `if not args.freeze:`, where that is off by default: whoever asks for nothing else trains it. */
function onByDefault(call: Call, { file, project }: Facts): boolean {
  return ancestors(call).some((above) => above.kind === "If" && isOnByDefault(above.test, file, project));
}

/** `choices=("finetune", "freeze")` freezes nothing. */
function withoutTexts(code: string): string {
  return code.replaceAll(/(["'])(?:(?!\1)[^\\\n])*\1/g, '""');
}
