import {
  Dotted,
  type Located,
  Made,
  type Place,
  Unread,
  type Value,
  isList,
  isScalar,
  isTable,
  placeText,
  show,
} from "../located.ts";

/** Python's truth of a value; undefined where it is not known. */
export function truth(value: Value): boolean | undefined {
  if (value instanceof Unread) return undefined;
  if (isList(value)) return value.length > 0;
  if (isTable(value)) return value.size > 0;
  if (value instanceof Dotted || value instanceof Made) return true;
  return Boolean(value);
}

export function binary(op: string, left: Value, right: Value): Value | undefined {
  if (typeof left === "string" && typeof right === "string" && op === "+") return left + right;
  if (isList(left) && isList(right) && op === "+") return [...left, ...right];
  if (isTable(left) && isTable(right) && op === "|") return new Map([...left, ...right]);
  if (typeof left !== "number" || typeof right !== "number") return undefined;
  switch (op) {
    case "+":
      return left + right;
    case "-":
      return left - right;
    case "*":
      return left * right;
    case "/":
      return right === 0 ? undefined : left / right;
    case "//":
      return right === 0 ? undefined : Math.floor(left / right);
    case "%":
      return right === 0 ? undefined : left - right * Math.floor(left / right);
    case "**":
      return left ** right;
    default:
      return undefined;
  }
}

export function compare(op: string, left: Value, right: Value): boolean | undefined {
  if (left instanceof Unread || right instanceof Unread) return undefined;
  if (op === "in" || op === "not in") {
    const inside = isList(right)
      ? right.some((item) => same(item.value, left))
      : isTable(right) && typeof left === "string"
        ? right.has(left)
        : typeof right === "string" && typeof left === "string"
          ? right.includes(left)
          : undefined;
    return inside === undefined ? undefined : inside === (op === "in");
  }
  if (op === "==" || op === "is" || op === "!=" || op === "is not") {
    const alike = equal(left, right);
    return alike === undefined ? undefined : alike === (op === "==" || op === "is");
  }
  if (typeof left !== "number" || typeof right !== "number") return undefined;
  switch (op) {
    case "<":
      return left < right;
    case "<=":
      return left <= right;
    case ">":
      return left > right;
    case ">=":
      return left >= right;
    default:
      return undefined;
  }
}

/** A name that stands for itself may still hold any text or number; it is not None. */
function equal(a: Value, b: Value): boolean | undefined {
  if ((isScalar(a) && isScalar(b)) || (a instanceof Dotted && b instanceof Dotted)) return same(a, b);
  return a === null || b === null ? false : undefined;
}

function same(a: Value, b: Value): boolean {
  if (a instanceof Dotted && b instanceof Dotted) return a.name === b.name;
  if (a instanceof Made && b instanceof Made)
    return (
      a.callee === b.callee && a.args.size + b.args.size + a.positional.length + b.positional.length === 0
    );
  return a === b;
}

/** Several values may be meant: the one they agree on, or a guess at the one that takes the most memory. */
export function several(options: readonly Located[], why: string, place: Place): Located {
  if (options.length === 1) return options[0]!;
  const readable = options.flatMap((one) => (one.value instanceof Unread ? (one.value.guess ?? []) : one));
  const [first] = readable;
  if (!first) return { value: new Unread(why), place };
  const certain = options.every((one) => !(one.value instanceof Unread));
  if (certain && readable.every((one) => same(one.value, first.value))) return first;
  const numbers = readable.filter((one) => typeof one.value === "number");
  const guess =
    numbers.length > 0
      ? numbers.reduce((a, b) => ((b.value as number) > (a.value as number) ? b : a))
      : (readable.find((one) => one.value !== null && one.value !== false) ?? first);
  const shown = readable.map((one) => `${show(one.value)} (${placeText(one.place)})`).join(" or ");
  return { value: new Unread(readable.length > 1 ? `${why}: ${shown}` : why, guess), place };
}
