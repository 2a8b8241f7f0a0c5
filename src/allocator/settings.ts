import { UserError } from "../base/errors.ts";
import { MiB, type Bytes } from "../base/units.ts";

/** What of PYTORCH_CUDA_ALLOC_CONF decides where a block goes. */
export interface AllocatorSettings {
  /** Blocks from this size on are not split; Infinity is torch's default. */
  readonly maxSplit: Bytes;
  /** How much larger than an unsplittable request a cached block may be. */
  readonly maxNonSplitRounding: Bytes;
  /** The segment for requests between 1 and 10 MiB, and the large pool's page in an expandable segment. */
  readonly largeSegment: Bytes;
  /** Divisions per size class (1 MiB, 2 MiB, … 32 GiB and above); 0 and 1 are off. */
  readonly roundupPower2Divisions: readonly number[];
  /** Whether any class rounds: spares the lookup on the hot path. */
  readonly rounds: boolean;
  /** 0 is off. Works only beside a memory cap, as in torch. */
  readonly gcThreshold: number;
  readonly expandable: boolean;
  readonly backend: "native" | "cudaMallocAsync";
  /** Cap as a fraction of the device's memory; 1 is none. */
  readonly memoryFraction: number;
}

const CLASSES = 16;

export const DEFAULT_SETTINGS: AllocatorSettings = {
  maxSplit: Infinity,
  maxNonSplitRounding: 20 * MiB,
  largeSegment: 20 * MiB,
  roundupPower2Divisions: Array.from({ length: CLASSES }, () => 0),
  rounds: false,
  gcThreshold: 0,
  expandable: false,
  backend: "native",
  memoryFraction: 1,
};

type Draft = { -readonly [K in keyof AllocatorSettings]: AllocatorSettings[K] };

class Tokens {
  readonly #tokens: readonly string[];
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
    this.#tokens = text.replaceAll(/\s/g, "").match(/[,:[\]]|[^,:[\]]+/g) ?? [];
  }

  get done(): boolean {
    return this.#at >= this.#tokens.length;
  }

  peek(): string | undefined {
    return this.#tokens[this.#at];
  }

  word(what: string): string {
    const token = this.#tokens[this.#at];
    if (token === undefined || /^[,:[\]]$/.test(token))
      throw this.error(`expected ${what}, found ${token ? `"${token}"` : "the end"}`);
    this.#at++;
    return token;
  }

  expect(token: string): void {
    const found = this.#tokens[this.#at];
    if (found !== token) throw this.error(`expected "${token}", found ${found ? `"${found}"` : "the end"}`);
    this.#at++;
  }

  error(problem: string): UserError {
    return new UserError(
      `allocator settings "${this.#text}": ${problem}`,
      "written as in PYTORCH_CUDA_ALLOC_CONF: key:value,key:value",
    );
  }
}

/** Like torch's stoull: digits at the front count, what follows them is ignored ("128.5" is 128). */
function whole(tokens: Tokens, key: string, accepted: string): number {
  const word = tokens.word(`a value for ${key} (${accepted})`);
  const digits = /^\+?\d+/.exec(word);
  if (!digits) throw tokens.error(`${key} takes ${accepted}, not "${word}"`);
  return Number(digits[0]);
}

function real(tokens: Tokens, key: string, accepted: string): number {
  const word = tokens.word(`a value for ${key} (${accepted})`);
  const value = Number.parseFloat(word);
  if (Number.isNaN(value)) throw tokens.error(`${key} takes ${accepted}, not "${word}"`);
  return value;
}

function truth(tokens: Tokens, key: string): boolean {
  const word = tokens.word(`True or False for ${key}`);
  if (word !== "True" && word !== "False") throw tokens.error(`${key} takes True or False, not "${word}"`);
  return word === "True";
}

function isPowerOf2(value: number): boolean {
  return value >= 1 && Number.isInteger(Math.log2(value)) && 2 ** Math.log2(value) === value;
}

function divisionList(tokens: Tokens, key: string): number[] {
  const divisions = Array.from({ length: CLASSES }, () => 0);
  const accepted = "a power of two, or 0 for off";
  let last = 0;
  let first = true;
  tokens.expect("[");
  while (tokens.peek() !== "]") {
    const boundary = tokens.word('a size in MB or ">"');
    tokens.expect(":");
    const value = whole(tokens, key, accepted);
    if (value !== 0 && !isPowerOf2(value)) throw tokens.error(`${key} takes ${accepted}, not ${value}`);
    if (boundary === ">") {
      divisions.fill(value, last + 1);
    } else {
      const size = /^\d+$/.test(boundary) ? Number(boundary) : Number.NaN;
      if (!isPowerOf2(size))
        throw tokens.error(`${key} takes sizes in MB that are powers of two, or ">", not "${boundary}"`);
      last = Math.min(Math.log2(size), CLASSES - 1);
      // The first class named speaks for all the smaller ones too.
      if (first) divisions.fill(value, 0, last);
      first = false;
      divisions[last] = value;
    }
    if (tokens.peek() !== "]") tokens.expect(",");
  }
  tokens.expect("]");
  return divisions;
}

function readDivisions(tokens: Tokens, key: string): number[] {
  if (tokens.peek() === "[") return divisionList(tokens, key);
  const value = whole(tokens, key, "a power of two, or a list such as [256:1,512:2,>:4]");
  if (!isPowerOf2(value)) throw tokens.error(`${key} takes a power of two, not ${value}`);
  return Array.from({ length: CLASSES }, () => value);
}

/** One entry a key, in the order of torch's documentation. A key that moves no block is read and checked only. */
const KEYS: Readonly<Record<string, (tokens: Tokens, draft: Draft, key: string) => void>> = {
  backend(tokens, draft, key) {
    const word = tokens.word(`a value for ${key} (native or cudaMallocAsync)`);
    if (word !== "native" && word !== "cudaMallocAsync")
      throw tokens.error(`${key} takes native or cudaMallocAsync, not "${word}"`);
    draft.backend = word;
  },
  max_split_size_mb(tokens, draft, key) {
    draft.maxSplit = whole(tokens, key, "a whole number of MB") * MiB;
  },
  max_non_split_rounding_mb(tokens, draft, key) {
    const value = whole(tokens, key, "a whole number of MB from 20 on");
    if (value < 20) throw tokens.error(`${key} takes 20 or more, not ${value}`);
    draft.maxNonSplitRounding = value * MiB;
  },
  large_segment_size_mb(tokens, draft, key) {
    const value = whole(tokens, key, "a whole number of MB above 10");
    if (value <= 10) throw tokens.error(`${key} takes more than 10, not ${value}`);
    draft.largeSegment = value * MiB;
  },
  roundup_power2_divisions(tokens, draft, key) {
    draft.roundupPower2Divisions = readDivisions(tokens, key);
    draft.rounds = draft.roundupPower2Divisions.some((value) => value > 1);
  },
  garbage_collection_threshold(tokens, draft, key) {
    const value = real(tokens, key, "a number between 0 and 1");
    if (!(value > 0 && value < 1))
      throw tokens.error(`${key} takes a number between 0 and 1, both excluded, not ${value}`);
    draft.gcThreshold = value;
  },
  expandable_segments(tokens, draft, key) {
    draft.expandable = truth(tokens, key);
  },
  per_process_memory_fraction(tokens, draft, key) {
    const value = real(tokens, key, "a number from 0 to 1");
    if (!(value >= 0 && value <= 1)) throw tokens.error(`${key} takes a number from 0 to 1, not ${value}`);
    draft.memoryFraction = value;
  },
  pinned_num_register_threads(tokens, _draft, key) {
    const value = whole(tokens, key, "a power of two up to 128");
    if (!isPowerOf2(value) || value > 128)
      throw tokens.error(`${key} takes a power of two up to 128, not ${value}`);
  },
  pinned_reserve_segment_size_mb(tokens, _draft, key) {
    if (whole(tokens, key, "a whole number of MB above 0") === 0)
      throw tokens.error(`${key} takes a whole number of MB above 0`);
  },
  pinned_max_round_threshold_mb: (tokens, _draft, key) => void whole(tokens, key, "a whole number of MB"),
  pinned_max_cached_size_mb: (tokens, _draft, key) => void whole(tokens, key, "a whole number of MB"),
  pinned_use_cuda_host_register: (tokens, _draft, key) => void truth(tokens, key),
  pinned_use_hip_host_register: (tokens, _draft, key) => void truth(tokens, key),
  pinned_use_background_threads: (tokens, _draft, key) => void truth(tokens, key),
  pinned_free_catch_all: (tokens, _draft, key) => void truth(tokens, key),
  release_lock_on_cudamalloc: (tokens, _draft, key) => void truth(tokens, key),
  release_lock_on_hipmalloc: (tokens, _draft, key) => void truth(tokens, key),
  graph_capture_record_stream_reuse: (tokens, _draft, key) => void truth(tokens, key),
  throw_on_cudamalloc_oom: (tokens, _draft, key) => void truth(tokens, key),
};

/**
 * Reads the string PYTORCH_CUDA_ALLOC_CONF takes, with torch 2.11's keys and limits. Stricter in one respect:
 * recent versions pass over a missing comma or colon and then ignore the settings after it; here it is an error.
 */
export function parseSettings(text: string): AllocatorSettings {
  const tokens = new Tokens(text);
  const draft: Draft = { ...DEFAULT_SETTINGS };
  while (!tokens.done) {
    const key = tokens.word("a setting's name");
    const read = Object.hasOwn(KEYS, key) ? KEYS[key] : undefined;
    if (!read) throw tokens.error(`unknown key "${key}" (known: ${Object.keys(KEYS).join(", ")})`);
    tokens.expect(":");
    read(tokens, draft, key);
    if (!tokens.done) tokens.expect(",");
  }
  if (draft.maxSplit < draft.largeSegment) {
    throw tokens.error(
      `max_split_size_mb takes ${draft.largeSegment / MiB} or more, not ${draft.maxSplit / MiB}`,
    );
  }
  return draft;
}

/** The shortest string that parses to these settings: "" for torch's defaults. */
export function formatSettings(settings: AllocatorSettings): string {
  const parts: string[] = [];
  if (settings.backend !== "native") parts.push(`backend:${settings.backend}`);
  if (settings.largeSegment !== DEFAULT_SETTINGS.largeSegment)
    parts.push(`large_segment_size_mb:${settings.largeSegment / MiB}`);
  if (settings.maxSplit !== Infinity) parts.push(`max_split_size_mb:${settings.maxSplit / MiB}`);
  if (settings.maxNonSplitRounding !== DEFAULT_SETTINGS.maxNonSplitRounding) {
    parts.push(`max_non_split_rounding_mb:${settings.maxNonSplitRounding / MiB}`);
  }
  const divisions = settings.roundupPower2Divisions;
  if (divisions.some((value) => value !== 0)) {
    const same = divisions.every((value) => value === divisions[0]);
    parts.push(
      same
        ? `roundup_power2_divisions:${divisions[0]}`
        : `roundup_power2_divisions:[${divisions.map((value, at) => `${2 ** at}:${value}`).join(",")}]`,
    );
  }
  if (settings.gcThreshold > 0) parts.push(`garbage_collection_threshold:${settings.gcThreshold}`);
  if (settings.expandable) parts.push("expandable_segments:True");
  if (settings.memoryFraction < 1) parts.push(`per_process_memory_fraction:${settings.memoryFraction}`);
  return parts.join(",");
}
