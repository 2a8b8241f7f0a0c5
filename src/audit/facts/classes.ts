import { functionOf, walk } from "../../python/nodes.ts";
import type { Call, ClassDef, Expr, FunctionDef } from "../../python/tree.ts";
import { last } from "./torch-names.ts";

/** What a class is to training, by what it derives from. */
export type Role = "module" | "lightning" | "trainer" | "dataset" | "function" | "other";

/** Bases from outside the audited tree. */
export function roleOfBase(dotted: string): Role | null {
  const name = last(dotted);
  if (dotted === "torch.autograd.Function" || dotted === "torch.autograd.function.Function") return "function";
  if (dotted.startsWith("torch.utils.data.") || dotted.startsWith("builtins.")) return name.endsWith("Dataset") ? "dataset" : null;
  if (name === "LightningModule") return "lightning";
  if (dotted.startsWith("torch.nn.") || name === "PreTrainedModel" || name === "ModelMixin" || name === "Module" || name === "MessagePassing") return "module";
  if (dotted.startsWith("transformers.") && /(?:Model|For[A-Z]\w+|Layer|Attention|Embeddings?)$/.test(name)) return "module";
  if (/Trainer$/.test(name)) return "trainer";
  return null;
}

/** How an attribute of a module was set: all of its writes in the class. */
export interface Attribute {
  readonly name: string;
  readonly writes: readonly { readonly how: "assign" | "augment" | "buffer"; readonly value: Expr | null; readonly in: FunctionDef; readonly target: Expr }[];
}

export function methodsOf(cls: ClassDef): readonly FunctionDef[] {
  return cls.body.filter((statement): statement is FunctionDef => statement.kind === "FunctionDef");
}

/** The name of the first parameter of a method, "self" by custom. */
export function selfName(method: FunctionDef): string | null {
  const isStatic = method.decorators.some((decorator) => decorator.kind === "Name" && (decorator.id === "staticmethod" || decorator.id === "classmethod"));
  return isStatic ? null : (method.params[0]?.name ?? null);
}

/** The attribute name when the expression is `self.name` inside a method. */
export function selfAttribute(expr: Expr): string | null {
  if (expr.kind !== "Attribute" || expr.value.kind !== "Name") return null;
  for (let at = functionOf(expr); at; at = functionOf(at))
    if (at.kind === "FunctionDef" && at.parent?.kind === "ClassDef") return selfName(at) === expr.value.id ? expr.attr : null;
  return null;
}

const known = new WeakMap<ClassDef, ReadonlyMap<string, Attribute>>();

export function attributesOf(cls: ClassDef): ReadonlyMap<string, Attribute> {
  let found = known.get(cls);
  if (!found) known.set(cls, (found = collectAttributes(cls)));
  return found;
}

function collectAttributes(cls: ClassDef): ReadonlyMap<string, Attribute> {
  const found = new Map<string, { name: string; writes: Attribute["writes"][number][] }>();
  const add = (name: string, write: Attribute["writes"][number]): void => {
    const entry = found.get(name);
    if (entry) entry.writes.push(write);
    else found.set(name, { name, writes: [write] });
  };
  for (const method of methodsOf(cls)) {
    walk(method, (node) => {
      if (node.kind === "Assign")
        for (const target of node.targets) {
          const name = selfAttribute(target);
          if (name !== null) add(name, { how: "assign", value: node.value, in: method, target });
          if (target.kind === "Tuple") for (const item of target.items) {
            const inner = selfAttribute(item);
            if (inner !== null) add(inner, { how: "assign", value: null, in: method, target: item });
          }
        }
      else if (node.kind === "AnnAssign" || node.kind === "AugAssign") {
        const name = selfAttribute(node.target);
        if (name !== null) add(name, { how: node.kind === "AugAssign" ? "augment" : "assign", value: node.value, in: method, target: node.target });
      } else if (node.kind === "Call" && node.func.kind === "Attribute" && node.func.attr === "register_buffer") {
        const name = bufferName(node);
        if (name) add(name, { how: "buffer", value: node.args[1]?.value ?? null, in: method, target: node });
      }
    });
  }
  return found;
}

function bufferName(call: Call): string | null {
  const first = call.args[0]?.value;
  return first?.kind === "Str" ? first.value : null;
}
