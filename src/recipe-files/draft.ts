import { UserError } from "../base/errors.ts";
import { familyOf } from "../nets/families.ts";
import { findModel } from "../plan/catalogue/catalogue.ts";
import type { Config } from "../nets/config.ts";
import { DEFAULT_RECIPE, type Method, type Recipe } from "../plan/recipe.ts";
import { type Located, type Place, Unread, type Value, isScalar, placeText, show } from "./located.ts";
import type { Assumption, Facts, Field, ModelReference, RecipeReading, Source } from "./reading.ts";

/** How a file's value becomes a recipe's; undefined: it does not. */
export interface Reader<T> {
  readonly read: (value: Value) => T | undefined;
  /** "a whole number above 0". */
  readonly expected: string;
  /** The framework takes values that plans do not know: another one is assumed instead of refused. */
  readonly open?: boolean;
}

type Entry<F extends Field = Field> =
  | { readonly kind: "found"; readonly value: Facts[F]; readonly key: string; readonly place: Place }
  | { readonly kind: "assumed"; readonly value: Facts[F]; readonly why: string };

const partOf = (field: Field): string => field.split(".")[0]!;

/** As recipes are written down; the parts of one field stay in the order they were read. */
const ORDER = ["model", ...Object.keys(DEFAULT_RECIPE)];

/** A recipe while a file is being read: each field found at a place, or assumed for a reason. */
export class Draft {
  readonly #entries = new Map<Field, Entry>();
  readonly #warnings: string[] = [];
  #config: Config | null = null;

  /** What was found first stays; it replaces an assumption. */
  set<F extends Field>(field: F, value: Facts[F], key: string, place: Place): void {
    if (this.#entries.get(field)?.kind !== "found")
      this.#entries.set(field, { kind: "found", value, key, place });
  }

  /** For what a second key makes of a first one's value. */
  replace<F extends Field>(field: F, value: Facts[F], key: string, place: Place): void {
    this.#entries.set(field, { kind: "found", value, key, place });
  }

  assume<F extends Field>(field: F, value: Facts[F], why: string): void {
    if (!this.#entries.has(field)) this.#entries.set(field, { kind: "assumed", value, why });
  }

  /** For a framework's default where another's was assumed. */
  revise<F extends Field>(field: F, value: Facts[F], why: string): void {
    if (this.#entries.get(field)?.kind === "assumed")
      this.#entries.set(field, { kind: "assumed", value, why });
  }

  warn(text: string, place?: Place): void {
    const line = place ? `${placeText(place)}: ${text}` : text;
    if (!this.#warnings.includes(line)) this.#warnings.push(line);
  }

  get<F extends Field>(field: F): Facts[F] | undefined {
    return this.#entries.get(field)?.value as Facts[F] | undefined;
  }

  has(field: Field): boolean {
    return this.#entries.has(field);
  }

  /** The model's own sizes, where the file holds them. */
  set config(config: Config) {
    this.#config = config;
  }

  /** Takes a value the file gives, if it gives one. What cannot be read is assumed to be `otherwise`. */
  take<F extends Field>(
    field: F,
    key: string,
    at: Located | undefined,
    reader: Reader<Facts[F]>,
    otherwise: Facts[F],
  ): void {
    if (!at) return;
    const { value, place } = at;
    if (value instanceof Unread) {
      const guess = value.guess && !(value.guess.value instanceof Unread) ? value.guess : null;
      const guessed = guess ? reader.read(guess.value) : undefined;
      this.assume(field, guessed ?? otherwise, `${key} (${placeText(place)}): ${value.why}`);
      return;
    }
    const read = reader.read(value);
    if (read !== undefined) return this.set(field, read, key, place);
    // None, null: the framework's own default.
    if (value === null) return;
    if (isScalar(value) && !reader.open)
      throw new UserError(`${placeText(place)}: ${key} is ${show(value)}`, `Expected ${reader.expected}.`);
    this.assume(
      field,
      otherwise,
      `${key} (${placeText(place)}) is ${show(value)}, where ${reader.expected} was expected`,
    );
  }

  /** `whole`: the file describes a run; otherwise only what it says is returned. */
  finish(framework: string, whole: boolean): RecipeReading {
    if (whole) this.#fillIn();
    const found: Source[] = [];
    const assumed: Assumption[] = [];
    const entries = [...this.#entries].toSorted(
      ([a], [b]) => ORDER.indexOf(partOf(a)) - ORDER.indexOf(partOf(b)),
    );
    for (const [field, entry] of entries) {
      if (field === "method.quantization") continue;
      if (entry.kind === "found")
        found.push({ field, value: entry.value, key: entry.key, place: entry.place });
      else assumed.push({ field, value: entry.value, why: entry.why });
    }
    return {
      framework,
      model: this.#model(),
      recipe: this.#recipe(),
      found,
      assumed,
      warnings: this.#warnings,
    };
  }

  #model(): ModelReference | null {
    const entry = this.#entries.get("model") as Entry<"model"> | undefined;
    return entry?.kind === "found" ? { name: entry.value, config: this.#config, place: entry.place } : null;
  }

  /** The model's config, where its name is in the catalogue. */
  get modelConfig(): Config | null {
    const name = this.get("model");
    return this.#config ?? (name === undefined ? null : (findModel(name)?.config ?? null));
  }

  #fillIn(): void {
    const unsaid = "not said in the file";
    if (!this.has("model")) this.warn("no model is named: give it with --model");
    if (this.get("method.quantization") && !this.#lora) {
      this.assume("method.kind", "lora", "4-bit weights cannot train themselves: an adapter is assumed");
    }
    if (this.#lora) {
      this.assume("method.adapter.rank", 8, unsaid);
      if (!this.has("method.adapter.targets")) {
        const config = this.modelConfig;
        this.assume(
          "method.adapter.targets",
          config ? familyOf(config).defaultTargets : ["q_proj", "v_proj"],
          config ? "not set: PEFT's default for this model" : "not set: PEFT's default for most models",
        );
      }
    }
    this.assume("dtype", DEFAULT_RECIPE.dtype, unsaid);
    this.assume("optimizer", DEFAULT_RECIPE.optimizer, unsaid);
    this.assume("batch", DEFAULT_RECIPE.batch, unsaid);
    this.assume("seq", DEFAULT_RECIPE.seq, unsaid);
    this.#fitPositions();
    if (this.has("parallel.kind") && this.get("parallel.kind") !== "none" && !this.has("parallel.ranks"))
      this.assume("parallel.ranks", 1, "the launch line decides how many: one card is the worst case");
  }

  /** An assumed sequence is no longer than the model takes. */
  #fitPositions(): void {
    const config = this.modelConfig;
    const most = config?.["max_position_embeddings"] ?? config?.["n_positions"];
    const entry = this.#entries.get("seq") as Entry<"seq"> | undefined;
    if (entry?.kind !== "assumed" || typeof most !== "number" || entry.value <= most) return;
    this.revise("seq", most, `${entry.why}; the model has ${most} positions`);
  }

  get #lora(): boolean {
    return this.get("method.kind") === "lora" || this.has("method.adapter.rank");
  }

  #recipe(): Partial<Omit<Recipe, "model">> {
    const recipe: { -readonly [K in keyof Recipe]?: Recipe[K] } = {};
    const plain = [
      "dtype",
      "autocast",
      "attention",
      "loss",
      "optimizer",
      "optimizerOnHost",
      "optimizerInBackward",
      "clip",
      "batch",
      "seq",
      "accumulation",
      "mask",
      "loop",
      "allocConf",
    ] as const;
    for (const field of plain) {
      const value = this.get(field);
      if (value !== undefined) Object.assign(recipe, { [field]: value });
    }
    const method = this.#method();
    if (method) recipe.method = method;
    const evaluated = this.get("evaluation.batch");
    if (evaluated !== undefined)
      recipe.evaluation = { batch: evaluated, keptLogits: this.get("evaluation.keptLogits") ?? 0 };
    const { checkpointing, parallel } = DEFAULT_RECIPE;
    const kind = this.get("checkpointing.kind") ?? checkpointing.kind;
    if (this.#any("checkpointing."))
      recipe.checkpointing = {
        kind,
        // Arguments of a checkpointing that is off.
        reentrant: kind !== "none" && (this.get("checkpointing.reentrant") ?? checkpointing.reentrant),
        every: this.get("checkpointing.every") ?? checkpointing.every,
        offload: this.get("checkpointing.offload") ?? checkpointing.offload,
      };
    const nodes = this.get("parallel.nodes") ?? 1;
    const replicas = this.get("parallel.replicas") ?? 1;
    if (this.#any("parallel."))
      recipe.parallel = {
        kind: this.get("parallel.kind") ?? parallel.kind,
        ranks: (this.get("parallel.ranks") ?? parallel.ranks) / replicas,
        offload: this.get("parallel.offload") ?? parallel.offload,
        ...(nodes > 1 ? { nodes } : {}),
        ...(replicas > 1 ? { replicas } : {}),
      };
    return recipe;
  }

  #any(prefix: string): boolean {
    return [...this.#entries.keys()].some((field) => field.startsWith(prefix));
  }

  #method(): Method | null {
    if (!this.#any("method.")) return null;
    if (!this.#lora) return { kind: "full", frozenLayers: this.get("method.frozenLayers") ?? 0 };
    return {
      kind: "lora",
      adapter: {
        rank: this.get("method.adapter.rank") ?? 8,
        dropout: this.get("method.adapter.dropout") ?? 0,
        targets: this.get("method.adapter.targets") ?? "all-linear",
        dora: this.get("method.adapter.dora") ?? false,
        nonlinearity: "none",
      },
      quantization: this.get("method.quantization")
        ? {
            // transformers' BitsAndBytesConfig: fp4, no double quantisation, fp32 compute when not said.
            type: this.get("method.quantization.type") ?? "fp4",
            doubleQuant: this.get("method.quantization.doubleQuant") ?? false,
            computeDtype: this.get("method.quantization.computeDtype") ?? "fp32",
            prepared: this.get("method.quantization.prepared") ?? false,
          }
        : null,
    };
  }
}
