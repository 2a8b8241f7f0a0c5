import type { Draft } from "../draft.ts";
import { statementOf, walk } from "../../python/nodes.ts";
import type { Expr, Name, Node } from "../../python/tree.ts";
import type { Script } from "./program.ts";
import type { Site, Survey } from "./survey.ts";

/** What a loop written by hand does that no argument says: how it steps, how it computes its loss. */
export function takeOwnSteps(draft: Draft, survey: Survey, optimizer: Site): void {
  takeHooks(draft, survey);
  takeHost(draft, survey, optimizer);
  takeLoss(draft, survey);
  const [selective] = survey.named(/^create_selective_checkpoint_contexts$/);
  if (selective && draft.get("checkpointing.kind") === "full")
    draft.replace("checkpointing.kind", "selective", selective.last, selective.place);
}

/** p.register_post_accumulate_grad_hook(hook), whose hook steps. */
function takeHooks(draft: Draft, survey: Survey): void {
  for (const { call, script, last, place } of survey.named(/^register_post_accumulate_grad_hook$/)) {
    const hook = call.args[0]?.value;
    if (hook && /\bstep\(/.test(functionNamed(hook, script, survey) ?? script.file.textOf(hook)))
      return draft.set("optimizerInBackward", true, last, place);
  }
}

const ON_HOST = /\.cpu\(\)|\.to\(\s*["']cpu["']|device=["']cpu["']/;

/** An optimizer over copies of the weights that a comprehension or a Parameter(…) makes in host memory. */
function takeHost(draft: Draft, survey: Survey, { call, script, name, place }: Site): void {
  if (draft.has("optimizerOnHost")) return;
  for (const used of namesIn(statementOf(call)))
    for (const { value } of script.file.scopes.reaching(used)) {
      if (!value || !(value.kind === "Comp" || /\bParameter\(/.test(script.file.textOf(value)))) continue;
      const made = namesIn(value).flatMap((one) => functionNamed(one, script, survey) ?? []);
      if ([script.file.textOf(value), ...made].some((text) => ON_HOST.test(text)))
        return draft.set("optimizerOnHost", true, name, place);
    }
}

function namesIn(node: Node | null): Name[] {
  const names: Name[] = [];
  if (node)
    walk(node, (inner) => {
      if (inner.kind === "Name") names.push(inner);
    });
  return names;
}

/** The text of the function that an expression names; null when it names none. */
function functionNamed(expr: Expr, { file }: Script, { program }: Survey): string | null {
  const local =
    expr.kind === "Name" ? file.all("FunctionDef").find(({ name }) => name === expr.id) : undefined;
  if (local) return file.textOf(local);
  const dotted = file.dotted(expr);
  const found = dotted === null ? null : program.functionNamed(dotted);
  return found ? found.script.file.textOf(found.node) : null;
}

/** checkpoint(f, …) around a cross-entropy of f's own; Liger's loss. */
function takeLoss(draft: Draft, survey: Survey): void {
  const [liger] = survey.named(/^LigerFusedLinearCrossEntropy(?:Loss|Function)$/);
  if (liger) return draft.set("loss", "fused", liger.last, liger.place);
  for (const { call, script, last, place } of survey.named(/^checkpoint$/)) {
    const body = call.args[0] && functionNamed(call.args[0].value, script, survey);
    if (body && /cross_entropy\(|CrossEntropyLoss\(/.test(body))
      return draft.set("loss", "chunked", last, place);
  }
}
