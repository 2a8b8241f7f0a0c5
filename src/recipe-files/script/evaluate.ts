import { ancestors, classOf, contains, functionOf } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Expr, Name, Node, NodeOf } from "../../python/tree.ts";
import { Dotted, type Located, Made, Unread, type Value, isList, isTable } from "../located.ts";
import { argumentsOf, evaluateCall } from "./calls.ts";
import { composeForMain } from "./hydra-main.ts";
import { binary, compare, several, truth } from "./operators.ts";
import type { Program, Script } from "./program.ts";

/** An expression that needs more steps is not a setting. */
const MAX_DEPTH = 60;
/** Evaluations spent on one question. */
const MAX_STEPS = 2000;

/** What expressions of a program stand for, without running it. */
export class Evaluator {
  readonly program: Program;
  readonly #known = new Map<Expr, Located>();
  readonly #open = new Set<Expr | Definition>();
  #cut = false;
  #steps = 0;

  constructor(program: Program) {
    this.program = program;
  }

  of(expr: Expr, script: Script): Located {
    const known = this.#known.get(expr);
    if (known) return known;
    if (this.#open.has(expr) || this.#open.size > MAX_DEPTH || this.#steps > MAX_STEPS) {
      this.#cut = true;
      return { value: new Unread("it depends on itself"), place: script.place(expr) };
    }
    this.#open.add(expr);
    this.#steps++;
    const result = this.#compute(expr, script);
    this.#open.delete(expr);
    // An answer cut short rests on an open question: only the outermost is kept.
    const outermost = this.#open.size === 0;
    if (outermost || !this.#cut) this.#known.set(expr, result);
    if (outermost) {
      this.#cut = false;
      this.#steps = 0;
    }
    return result;
  }

  #compute(expr: Expr, script: Script): Located {
    const place = script.place(expr);
    const at = (value: Value): Located => ({ value, place });
    const unread = (why: string): Located => at(new Unread(why));
    switch (expr.kind) {
      case "Num": {
        const number = Number(expr.text.replaceAll("_", ""));
        return Number.isNaN(number) ? unread(`${expr.text} is not a plain number`) : at(number);
      }
      case "Str":
        return expr.value === null ? unread("a text put together at run time") : at(expr.value);
      case "Const":
        return expr.value === "..." ? unread("...") : at(expr.value);
      case "List":
      case "Tuple":
      case "Set":
        return at(
          expr.items.flatMap((item) => {
            if (item.kind !== "Starred") return this.of(item, script);
            const inner = this.of(item.value, script).value;
            return isList(inner) ? inner : [];
          }),
        );
      case "Dict":
        return this.#dict(expr, script);
      case "Name":
        return this.#name(expr, script);
      case "Attribute":
        return this.#attribute(expr, script);
      case "Subscript":
        return this.#subscript(expr, script);
      case "Walrus":
      case "Await":
        return this.of(expr.value, script);
      case "Unary": {
        const { value } = this.of(expr.operand, script);
        if (expr.op === "not") {
          const true_ = truth(value);
          return true_ === undefined ? unread("it is decided at run time") : at(!true_);
        }
        return typeof value === "number"
          ? at(expr.op === "-" ? -value : value)
          : unread("it is computed at run time");
      }
      case "Binary": {
        const [left, right] = [this.of(expr.left, script), this.of(expr.right, script)];
        const value = binary(expr.op, left.value, right.value);
        if (value !== undefined) return at(value);
        const guess = binary(expr.op, guessOf(left), guessOf(right));
        return at(
          new Unread(
            `${script.file.textOf(expr).slice(0, 60)} is computed at run time`,
            guess === undefined ? null : at(guess),
          ),
        );
      }
      case "Compare": {
        const value =
          expr.ops.length === 1
            ? compare(expr.ops[0]!, this.of(expr.left, script).value, this.of(expr.rights[0]!, script).value)
            : undefined;
        return value === undefined ? unread("it is decided at run time") : at(value);
      }
      case "Bool": {
        for (const one of expr.values.slice(0, -1)) {
          const value = this.of(one, script);
          const true_ = truth(value.value);
          if (true_ === undefined)
            return several(
              expr.values.map((each) => this.of(each, script)),
              "it is decided at run time",
              place,
            );
          if (true_ === (expr.op === "or")) return value;
        }
        return this.of(expr.values.at(-1)!, script);
      }
      case "IfExp": {
        const test = this.of(expr.test, script);
        const true_ = truth(test.value);
        if (true_ !== undefined) return this.of(true_ ? expr.body : expr.orelse, script);
        const guess =
          test.value instanceof Unread && test.value.guess ? truth(test.value.guess.value) : undefined;
        if (guess !== undefined)
          return at(new Unread((test.value as Unread).why, this.of(guess ? expr.body : expr.orelse, script)));
        return several(
          [this.of(expr.body, script), this.of(expr.orelse, script)],
          "it depends on a condition",
          place,
        );
      }
      case "Call":
        return evaluateCall(this, expr, script);
      default:
        return unread("it is computed at run time");
    }
  }

  #dict(expr: Expr & { kind: "Dict" }, script: Script): Located {
    const table = new Map<string, Located>();
    for (const [index, key] of expr.keys.entries()) {
      const value = this.of(expr.values[index]!, script);
      if (key === null) {
        if (isTable(value.value)) for (const [name, one] of value.value) table.set(name, one);
        continue;
      }
      const name = this.of(key, script).value;
      if (typeof name === "string" || typeof name === "number") table.set(String(name), value);
    }
    return { value: table, place: script.place(expr) };
  }

  #name(expr: Name, script: Script): Located {
    const place = script.place(expr);
    if (expr.id === "__name__")
      return { value: script === this.program.main ? "__main__" : script.file.module, place };
    const all = script.file.scopes.reaching(expr);
    if (all.length === 0) return { value: new Dotted(`builtins.${expr.id}`), place };
    if (all.some((one) => this.#open.has(one))) this.#cut = true;
    const live = all.filter((one) => !this.#open.has(one) && this.reachable(one.node, script));
    const values = live.map((definition) => {
      this.#open.add(definition);
      const value = this.definition(definition, script);
      this.#open.delete(definition);
      return value;
    });
    // What a block may add to a table's keys is not seen where the table is read.
    if (values.length === 1) return this.#mutated(expr, values[0]!, script);
    return several(values, `${expr.id} has more than one value`, place);
  }

  /** A table or object with the keys that plain statements set on it afterwards: CONFIG["r"] = 64, args.bf16 = True. */
  #mutated(name: Name, base: Located, script: Script): Located {
    const { value } = base;
    const table = isTable(value) ? value : value instanceof Made ? value.args : null;
    if (!table) return base;
    const changed = new Map(table);
    for (const statement of script.file.all("Assign")) {
      for (const target of statement.targets) {
        if (
          (target.kind !== "Subscript" && target.kind !== "Attribute") ||
          target.value.kind !== "Name" ||
          target.value.id !== name.id
        )
          continue;
        if (functionOf(statement) !== functionOf(name) || statement.start > name.start) continue;
        if (!this.reachable(statement, script)) continue;
        const key = target.kind === "Attribute" ? target.attr : this.of(target.index, script).value;
        if (typeof key !== "string") continue;
        const given = this.of(statement.value, script);
        const conditional = statement.parent?.kind === "If" || statement.parent?.kind === "For";
        const before = changed.get(key);
        changed.set(
          key,
          conditional && before ? several([before, given], "it depends on a condition", given.place) : given,
        );
      }
    }
    if (value instanceof Made)
      return { ...base, value: new Made(value.callee, changed, value.positional, value.hidden) };
    return { ...base, value: changed };
  }

  definition(definition: Definition, script: Script): Located {
    const { how, node, value, index } = definition;
    const place = script.place(node);
    switch (how) {
      case "assign":
      case "walrus":
      case "with":
        return value ? this.of(value, script) : { value: new Unread("it has no value"), place };
      case "unpack": {
        const whole = value ? this.of(value, script).value : null;
        const item =
          isList(whole ?? undefined) && index !== null ? (whole as readonly Located[])[index] : undefined;
        return item ?? { value: new Unread("it is unpacked from something unknown"), place };
      }
      case "import":
        return node.kind === "Alias"
          ? this.dotted(script.file.importedName(node), place)
          : { value: new Unread("it is imported"), place };
      case "class":
      case "function":
        return { value: new Dotted(script.file.qualified(node as NodeOf<"ClassDef">)), place };
      case "param":
        return this.#parameter(node as NodeOf<"Param">, script);
      default:
        return { value: new Unread("it changes while the script runs"), place };
    }
  }

  /** A name through imports: a value of a file beside the script, or itself. */
  dotted(name: string, place: Located["place"]): Located {
    const found = this.program.locate(name);
    if (!found) return { value: new Dotted(name), place };
    const { script, rest } = found;
    const [first, ...attributes] = rest;
    const definitions =
      script.file.scopes
        .scopeOf(script.file.tree.module.body[0] ?? script.file.tree.module)
        .bindings.get(first!) ?? [];
    const last = definitions.at(-1);
    if (last && this.#open.has(last)) this.#cut = true;
    if (!last || this.#open.has(last)) return { value: new Dotted(name), place };
    this.#open.add(last);
    const usable = definitions.filter((one) => this.reachable(one.node, script));
    let at =
      usable.length === 1
        ? this.definition(usable[0]!, script)
        : several(
            usable.map((one) => this.definition(one, script)),
            `${first} has more than one value`,
            place,
          );
    this.#open.delete(last);
    for (const attribute of attributes) at = this.member(at, attribute);
    return at;
  }

  #attribute(expr: Expr & { kind: "Attribute" }, script: Script): Located {
    const place = script.place(expr);
    const name = script.file.dotted(expr);
    if (name !== null && !name.startsWith("builtins.")) return this.dotted(name, place);
    if (expr.value.kind === "Name" && expr.value.id === "self") {
      const cls = classOf(expr);
      if (cls) return this.#own(cls, expr.attr, script, place);
    }
    const found = this.member(this.of(expr.value, script), expr.attr);
    return found.value instanceof Unread && found.value.guess === null
      ? { value: new Unread(`${script.file.textOf(expr).slice(0, 60)}: ${found.value.why}`), place }
      : found;
  }

  /** self.x: the class's own field, or what one statement of its methods sets. */
  #own(cls: NodeOf<"ClassDef">, name: string, script: Script, place: Located["place"]): Located {
    const set = script.file
      .all("Assign")
      .filter(
        (one) =>
          contains(cls, one) &&
          one.targets.some(
            (target) =>
              target.kind === "Attribute" &&
              target.attr === name &&
              target.value.kind === "Name" &&
              target.value.id === "self",
          ) &&
          this.reachable(one, script),
      );
    const values = set.map((one) => this.of(one.value, script));
    if (values.length > 0) return several(values, `self.${name} has more than one value`, place);
    return (
      this.classFields(cls, script).get(name) ?? { value: new Unread(`self.${name} is set elsewhere`), place }
    );
  }

  /** A class body's assignments, those of its bases in the program under them. */
  classFields(cls: NodeOf<"ClassDef">, script: Script, depth = 0): Map<string, Located> {
    const fields = new Map<string, Located>();
    for (const { value } of depth < 10 ? cls.args : []) {
      const name = script.file.dotted(value);
      const base = name === null ? null : this.program.classNamed(name);
      if (base && base.node !== cls)
        for (const [key, at] of this.classFields(base.node, base.script, depth + 1)) fields.set(key, at);
    }
    for (const statement of cls.body) {
      if (statement.kind === "Assign")
        for (const target of statement.targets)
          if (target.kind === "Name") fields.set(target.id, this.of(statement.value, script));
    }
    return fields;
  }

  /** value.name or value["name"]. */
  member(at: Located, name: string): Located {
    const { value } = at;
    if (isTable(value))
      return value.get(name) ?? { value: new Unread(`no "${name}" is set`), place: at.place };
    if (value instanceof Unread) return value.guess ? guessed(value.why, this.member(value.guess, name)) : at;
    const callee = value instanceof Made ? value.callee : value instanceof Dotted ? value.name : null;
    if (value instanceof Made) {
      const given = value.args.get(name);
      if (given) return given;
    }
    const cls = callee === null ? null : this.program.classNamed(callee);
    const field = cls ? this.classFields(cls.node, cls.script).get(name) : undefined;
    if (field) return field;
    if (value instanceof Dotted && !cls)
      return { value: new Dotted(`${value.name}.${name}`), place: at.place };
    return { value: new Unread(`"${name}" is set at run time`), place: at.place };
  }

  #subscript(expr: Expr & { kind: "Subscript" }, script: Script): Located {
    const place = script.place(expr);
    if (script.file.dotted(expr.value) === "os.environ")
      return { value: new Unread("it comes from the environment"), place };
    const base = this.of(expr.value, script);
    const index = this.of(expr.index, script).value;
    if (isList(base.value) && typeof index === "number")
      return base.value.at(index) ?? { value: new Unread("it is outside the list"), place };
    if (typeof index === "string" || typeof index === "number") return this.member(base, String(index));
    return { value: new Unread("its key is computed at run time"), place };
  }

  /** A parameter is what the only call passes, else its default. */
  #parameter(node: NodeOf<"Param">, script: Script): Located {
    const place = script.place(node);
    const owner = node.parent;
    if (owner?.kind !== "FunctionDef") return { value: new Unread(`${node.name} is a parameter`), place };
    const composed = composeForMain(owner, script, this.program);
    if (composed) return composed;
    const method = owner.parent?.kind === "ClassDef" ? owner.parent : null;
    const target =
      method && owner.name === "__init__" ? script.file.qualified(method) : script.file.qualified(owner);
    const position = owner.params.indexOf(node) - (method ? 1 : 0);
    const given = this.program
      .callsOf(target)
      .filter(({ call, script: other }) => this.reachable(call, other))
      .map(({ call, script: other }) => {
        const { args, positional } = argumentsOf(this, call, other);
        const passed = args.get(node.name) ?? positional[position];
        if (passed) return passed;
        if (node.default) return this.of(node.default, script);
        return { value: new Unread(`${owner.name} is called without ${node.name}`), place };
      });
    if (given.length > 0)
      return several(given, `${owner.name} is called with more than one ${node.name}`, place);
    if (node.default) return this.of(node.default, script);
    return {
      value: new Unread(`${node.name} is a parameter of ${owner.name}, whose caller is not seen`),
      place,
    };
  }

  /** Whether a statement may run: not in a branch whose condition is known to be otherwise. */
  reachable(node: Node, script: Script): boolean {
    let child = node;
    for (const parent of ancestors(node)) {
      if (parent.kind === "If" && child !== parent.test) {
        const inBody = parent.body.includes(child as never);
        if (this.#open.has(parent.test)) this.#cut = true;
        const test = this.#open.has(parent.test) ? undefined : truth(this.of(parent.test, script).value);
        if (test !== undefined && test !== inBody) return false;
      }
      child = parent;
    }
    return true;
  }
}

const guessOf = ({ value }: Located): Value =>
  value instanceof Unread && value.guess ? value.guess.value : value;

/** A value reached through a guess is a guess. */
function guessed(why: string, at: Located): Located {
  return at.value instanceof Unread ? at : { value: new Unread(why, at), place: at.place };
}
