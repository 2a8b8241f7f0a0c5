import type { Call } from "../../python/tree.ts";
import { Dotted, type Located, Made, type Place, Unread, lastPart } from "../located.ts";
import { Evaluator } from "./evaluate.ts";
import type { Program, Script } from "./program.ts";

/** A call that may run, by its callee's name. */
export interface Site {
  /** Full dotted name, or the name alone where what it stands for is unknown. */
  readonly name: string;
  readonly last: string;
  readonly call: Call;
  readonly script: Script;
  readonly place: Place;
}

/** All calls of a program, and what they are given. */
export class Survey {
  readonly evaluator: Evaluator;
  readonly program: Program;
  readonly sites: readonly Site[];

  constructor(program: Program) {
    this.program = program;
    this.evaluator = new Evaluator(program);
    this.sites = program.scripts().flatMap((script) =>
      script.file.all("Call").flatMap((call): Site[] => {
        const name =
          script.file.dotted(call.func) ??
          this.#bound(call, script) ??
          (call.func.kind === "Attribute" ? call.func.attr : call.func.kind === "Name" ? call.func.id : null);
        if (name === null || !this.evaluator.reachable(call, script)) return [];
        return [{ name, last: lastPart(name), call, script, place: script.place(call) }];
      }),
    );
  }

  /** A class put in a variable first: optimizer_class(…). */
  #bound({ func }: Call, script: Script): string | null {
    if (func.kind !== "Name") return null;
    const { value } = this.evaluator.of(func, script);
    const known = value instanceof Unread ? value.guess?.value : value;
    return known instanceof Dotted ? known.name : null;
  }

  named(pattern: RegExp): readonly Site[] {
    return this.sites.filter((site) => pattern.test(site.last));
  }

  /** The call's arguments, whether or not its result is known. */
  made(site: Site): Made {
    const { value } = this.evaluator.of(site.call, site.script);
    if (value instanceof Made) return value;
    const args = new Map<string, Located>();
    const positional: Located[] = [];
    for (const arg of site.call.args) {
      const at = this.evaluator.of(arg.value, site.script);
      if (arg.name !== null) args.set(arg.name, at);
      else if (arg.star === 0) positional.push(at);
    }
    return new Made(site.name, args, positional);
  }
}

/** The value itself or what it is guessed to be. */
export function settled(at: Located | undefined): Located | undefined {
  return at?.value instanceof Unread ? (at.value.guess ?? undefined) : at;
}
