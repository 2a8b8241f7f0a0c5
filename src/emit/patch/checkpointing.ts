import { statementOf } from "../../python/nodes.ts";
import { checkpointingKind } from "../emitter.ts";
import { addAfter, removeStatement } from "./edit.ts";
import { setKeyword } from "./keyword.ts";
import { argument, type Edits, off, type Stage, together } from "./stage.ts";

/** By the trainer's arguments where it has them, by a call on the model otherwise. */
export function checkpointing(stage: Stage): Edits {
  const { parts, wanted, where } = stage;
  const kind = checkpointingKind(wanted.checkpointing);
  const onModel = kind === "every" || (parts.args === null && (kind === "full" || kind === "reentrant"));
  if (onModel) return together(argumentsOff(stage), preparedOff(stage), enable(stage));
  if (kind === "none") return together(argumentsOff(stage), preparedOff(stage), removed(stage));
  if (!parts.args) return null;
  const offloading =
    wanted.loop !== "sft"
      ? []
      : kind === "offload"
        ? setKeyword(parts.args, "activation_offloading", true, parts, where)
        : off(stage, parts.args, "activation_offloading");
  return together(
    // It would go before what the arguments say.
    removed(stage),
    argument(stage, "gradient_checkpointing"),
    argument(stage, "gradient_checkpointing_kwargs"),
    offloading,
  );
}

/** SFTConfig turns it on unless told. */
function argumentsOff(stage: Stage): Edits {
  const { parts, wanted, where } = stage;
  if (!parts.args) return [];
  const own =
    wanted.loop === "sft"
      ? setKeyword(parts.args, "gradient_checkpointing", false, parts, where)
      : off(stage, parts.args, "gradient_checkpointing");
  return together(own, off(stage, parts.args, "activation_offloading"));
}

/** prepare_model_for_kbit_training turns it on for every layer unless told. */
function preparedOff({ parts, where }: Stage): Edits {
  return parts.prepared ? setKeyword(parts.prepared, "use_gradient_checkpointing", false, parts, where) : [];
}

function removed({ parts: { enabled } }: Stage): Edits {
  if (!enabled) return [];
  const statement = enabled.call && statementOf(enabled.call);
  return statement?.kind === "ExprStmt" && statement.value === enabled.call
    ? removeStatement(statement, enabled.script)
    : null;
}

/** model.gradient_checkpointing_enable(…), changed where it stands, else behind the statement that loads the model. */
function enable({ parts, wanted, where }: Stage): Edits {
  const { every, reentrant } = wanted.checkpointing;
  const { enabled, load } = parts;
  if (enabled)
    return together(
      setKeyword(enabled, "gradient_checkpointing_kwargs", { use_reentrant: reentrant }, parts, where),
      every > 1 || enabled.made.args.has("every_n_layers")
        ? setKeyword(enabled, "every_n_layers", every, parts, where)
        : [],
    );
  const statement = load?.call ? statementOf(load.call) : null;
  const target = statement?.kind === "Assign" ? statement.targets[0] : undefined;
  if (!load || !statement || target?.kind !== "Name") return null;
  const kwargs = `gradient_checkpointing_kwargs={"use_reentrant": ${reentrant ? "True" : "False"}}`;
  const layers = every > 1 ? `, every_n_layers=${every}` : "";
  return addAfter(
    statement,
    [
      `${target.id}.gradient_checkpointing_enable(${kwargs}${layers})`,
      // Frozen embeddings: a reentrant checkpoint has a gradient only if its input has one.
      ...(wanted.method.kind === "lora" ? [`${target.id}.enable_input_require_grads()`] : []),
    ],
    load.script,
  );
}
