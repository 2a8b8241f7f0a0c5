import type { Tensor } from "../autograd/tensor.ts";
import type { Torch } from "../autograd/torch.ts";
import type { Tape } from "../tape/tape.ts";
import { Action } from "../tape/vocabulary.ts";

/** Thrown when the layers turn out not to repeat each other: the run is then executed layer by layer. */
export class NotPeriodic extends Error {}

function require(condition: boolean): asserts condition {
  if (!condition) throw new NotPeriodic();
}

/** The third layer stands for all after it but the last two. */
const STAND_IN = 2;

/**
 * Which layers to execute when all but the first and the last do the same: 0, 1, 2 and the last two. Null when
 * there is nothing to gain or the layers differ.
 */
export function representatives(kinds: readonly string[], leaves: LayerLeaves): number[] | null {
  const count = kinds.length;
  if (count < 7) return null;
  const shapes = (layer: number): string =>
    `${kinds[layer]} ${(leaves.get(layer) ?? []).map((t) => `${t.shape.join("x")} ${t.requiresGrad}`).join(" ")}`;
  const middle = shapes(STAND_IN);
  for (let layer = 1; layer < count; layer++) if (shapes(layer) !== middle) return null;
  return [0, 1, STAND_IN, count - 2, count - 1];
}

/** Parameters by the decoder layer they belong to; -1 for the others. */
export type LayerLeaves = ReadonlyMap<number, readonly Tensor[]>;

const LAYER = /(?:^|\.)(?:layers|h)\.(\d+)(?=\.|$)/;

export function leavesByLayer(tape: Tape, leaves: readonly Tensor[]): LayerLeaves {
  const groups = new Map<number, Tensor[]>();
  for (const leaf of leaves) {
    const found = LAYER.exec(tape.modules.text(tape.columns.module[leaf.storage.row]!));
    const layer = found ? Number(found[1]) : -1;
    const group = groups.get(layer);
    if (group) group.push(leaf);
    else groups.set(layer, [leaf]);
  }
  return groups;
}

/** A run of rows of one layer (or of none), as executed. */
interface Segment {
  readonly layer: number;
  readonly from: number;
  readonly to: number;
  /** Storages it allocates. */
  count: number;
}

interface Start {
  readonly layer: number;
  readonly row: number;
}

/** What changes from one copy of a segment to the next. */
interface Pace {
  /** By row: how far the storage moves. */
  readonly steps: Int32Array;
  /** Rows, from the segment's first, that allocate a gradient. */
  readonly gradients: readonly number[];
}

/** Where a storage was allocated: the segment and its place among that segment's. */
interface Origin {
  readonly segment: Segment;
  readonly ordinal: number;
}

/**
 * Rewrites the rows of a forward and backward over five layers into those over all: the third layer's rows are
 * repeated for each layer it stands for, on storages of their own, a reference to a neighbour's storage leading
 * to the neighbour's copy. Gradients of the layers not executed are given to their parameters.
 */
export function stitch(torch: Torch, firstRow: number, count: number, leaves: LayerLeaves): void {
  new Stitcher(torch, firstRow, count).run(leaves);
}

class Stitcher {
  readonly #torch: Torch;
  readonly #tape: Tape;
  readonly #last: number;
  readonly #segments: readonly Segment[];
  readonly #origins = new Map<number, Origin>();
  readonly #first: number;
  // Copies of the executed rows: the tape is written over.
  readonly #action: Uint8Array;
  readonly #storage: Int32Array;
  readonly #bytes: Float64Array;
  readonly #phase: Uint8Array;
  readonly #kind: Uint8Array;
  readonly #module: Int32Array;
  /** First storage id of each segment's copy, by segment and layer. */
  readonly #bases = new Map<Segment, Map<number, number>>();
  /** Gradients among the executed storages, and the tape row of each copy of one. */
  #gradients: ReadonlySet<number> = new Set();
  readonly #rows = new Map<number, number>();
  readonly #modules = new Map<number, Map<number, number>>();
  readonly #ahead: number[] = [];
  readonly #behind: number[] = [];
  /** Where the copies of a segment begin. */
  readonly #starts = new Map<Segment, Start[]>();
  readonly #paces = new Map<Segment, Pace>();

  constructor(torch: Torch, firstRow: number, count: number) {
    this.#torch = torch;
    this.#tape = torch.tape;
    this.#first = firstRow;
    this.#last = count - 1;
    const { length } = torch.tape;
    const c = torch.tape.columns;
    this.#action = c.action.slice(firstRow, length);
    this.#storage = c.storage.slice(firstRow, length);
    this.#bytes = c.bytes.slice(firstRow, length);
    this.#phase = c.phase.slice(firstRow, length);
    this.#kind = c.kind.slice(firstRow, length);
    this.#module = c.module.slice(firstRow, length);
    this.#segments = this.#cut(length);
    for (const segment of this.#segments) {
      for (let row = segment.from; row < segment.to; row++) {
        if (this.#action[row] === Action.alloc)
          this.#origins.set(this.#storage[row]!, { segment, ordinal: segment.count++ });
      }
    }
  }

  #cut(length: number): Segment[] {
    const marks = this.#torch.marks.filter((m) => m.row >= this.#first);
    const segments: Segment[] = [{ layer: -1, from: 0, to: 0, count: 0 }];
    for (const { row, layer } of marks) segments.push({ layer, from: row - this.#first, to: 0, count: 0 });
    const cut = segments.map((s, i) => ({ ...s, to: segments[i + 1]?.from ?? length - this.#first }));
    const before = this.#last - 1;
    const order = [-1, 0, 1, STAND_IN, before, this.#last, -1, this.#last, before, STAND_IN, 1, 0, -1];
    require(cut.length === order.length && cut.every((s, i) => s.layer === order[i]));
    return cut;
  }

  run(leaves: LayerLeaves): void {
    const [, , f1, f2, f3, , , , b3, b2, b1] = this.#segments as Segment[];
    require(this.#alike(f2!, f3!) && this.#alike(f2!, f1!) && this.#alike(b2!, b1!) && this.#alike(b2!, b3!));
    const gradients = this.#executedGradients(leaves);
    this.#gradients = new Set(gradients.map((g) => g.storage));
    this.#tape.rewind(this.#first);
    for (const segment of this.#segments) {
      if (segment.layer !== STAND_IN) {
        this.#copy(segment, segment.layer);
        continue;
      }
      const layers = this.#standsFor();
      for (const layer of segment === f2 ? layers : layers.reverse()) this.#copy(segment, layer);
    }
    for (const { layer, index, storage } of gradients) {
      for (const target of layer === STAND_IN ? this.#standsFor() : [layer]) {
        this.#adopt(leaves.get(target)![index]!, this.#resolve(storage, target));
      }
    }
  }

  #standsFor(): number[] {
    return Array.from({ length: this.#last - 3 }, (_, i) => i + STAND_IN);
  }

  /** Gradients that the executed rows left on their leaves. */
  #executedGradients(leaves: LayerLeaves): { layer: number; index: number; storage: number }[] {
    return [...leaves].flatMap(([layer, group]) =>
      group.flatMap((leaf, index) =>
        leaf.grad && this.#origins.has(leaf.grad.storage.id)
          ? [{ layer, index, storage: leaf.grad.storage.id }]
          : [],
      ),
    );
  }

  #adopt(leaf: Tensor, id: number): void {
    const row = this.#rows.get(id)!;
    leaf.grad = this.#torch.adopt(leaf, { id, bytes: this.#tape.columns.bytes[row]!, row, refs: 0 });
  }

  /** Same events in the same order; what they refer to is of the layer itself or of the same neighbour. */
  #alike(a: Segment, b: Segment): boolean {
    if (a.to - a.from !== b.to - b.from || a.count !== b.count) return false;
    for (let i = 0; i < a.to - a.from; i++) {
      const ra = a.from + i;
      const rb = b.from + i;
      if (this.#action[ra] !== this.#action[rb] || this.#bytes[ra] !== this.#bytes[rb]) return false;
      const oa = this.#origins.get(this.#storage[ra]!)!;
      const ob = this.#origins.get(this.#storage[rb]!)!;
      if ((oa.segment === a) !== (ob.segment === b)) return false;
      if (oa.segment === a && oa.ordinal !== ob.ordinal) return false;
    }
    return true;
  }

  #copy(segment: Segment, layer: number): void {
    let bases = this.#bases.get(segment);
    if (!bases) this.#bases.set(segment, (bases = new Map()));
    const base = this.#torch.reserveStorages(segment.count);
    bases.set(layer, base);
    const again = segment.layer === STAND_IN && this.#again(segment, layer);
    if (again) return;
    const start = this.#tape.length;
    let ordinal = 0;
    for (let row = segment.from; row < segment.to; row++) {
      if (this.#action[row] === Action.alloc) {
        const at = this.#append(row, base + ordinal, layer);
        if (this.#gradients.has(this.#storage[row]!)) this.#rows.set(base + ordinal, at);
        ordinal++;
        continue;
      }
      const { segment: owner } = this.#origins.get(this.#storage[row]!)!;
      const everywhere = segment.layer === -1 && owner.layer === STAND_IN;
      for (const at of everywhere ? this.#standsFor() : [layer]) {
        this.#append(row, this.#resolve(this.#storage[row]!, at), this.#layerFor(owner.layer, at));
      }
    }
    const starts = this.#starts.get(segment);
    if (starts) starts.push({ layer, row: start });
    else this.#starts.set(segment, [{ layer, row: start }]);
  }

  /**
   * Copies the stand-in from the copy before it: from the third on, every reference moves by the same step,
   * one for storages of the forward and one for those of the backward.
   */
  #again(segment: Segment, layer: number): boolean {
    const starts = this.#starts.get(segment);
    if (!starts || starts.length < 2) return false;
    const last = starts.at(-1)!;
    const { steps, gradients } = this.#pace(segment, starts);
    const from = last.row;
    const to = this.#tape.length;
    const length = steps.length;
    this.#tape.repeat(from, from + length, 0, this.#torch.step);
    const { storage, module } = this.#tape.columns;
    const direction = layer - last.layer;
    for (let i = 0; i < length; i++) {
      storage[to + i]! += steps[i]!;
      module[to + i] = this.#moved(module[from + i]!, direction);
    }
    for (const i of gradients) this.#rows.set(storage[to + i]!, to + i);
    starts.push({ layer, row: to });
    return true;
  }

  #pace(segment: Segment, starts: readonly Start[]): Pace {
    let pace = this.#paces.get(segment);
    if (!pace) {
      const [before, last] = starts.slice(-2) as [Start, Start];
      const length = segment.to - segment.from;
      const { storage } = this.#tape.columns;
      const steps = storage.slice(last.row, last.row + length);
      const gradients: number[] = [];
      for (let i = 0; i < length; i++) {
        steps[i]! -= storage[before.row + i]!;
        const row = segment.from + i;
        if (this.#action[row] === Action.alloc && this.#gradients.has(this.#storage[row]!)) gradients.push(i);
      }
      this.#paces.set(segment, (pace = { steps, gradients }));
    }
    return pace;
  }

  #append(row: number, id: number, layer: number): number {
    return this.#tape.append(
      this.#action[row]!,
      id,
      this.#bytes[row]!,
      0,
      this.#phase[row]!,
      this.#kind[row]!,
      this.#moduleFor(this.#module[row]!, layer),
      this.#torch.step,
    );
  }

  /** The copy of an executed storage that a row of `layer` means. */
  #resolve(storage: number, layer: number): number {
    const origin = this.#origins.get(storage);
    require(origin !== undefined);
    const { segment, ordinal } = origin;
    const bases = this.#bases.get(this.#segmentFor(segment, layer));
    const base = bases?.get(this.#layerFor(segment.layer, layer));
    require(base !== undefined);
    return base + ordinal;
  }

  /** Which layer's copy a row of `layer` means by the executed `owner`. */
  #layerFor(owner: number, layer: number): number {
    if (owner === -1 || owner === 0 || owner === this.#last) return owner;
    // A row of a layer that is stood in for: its neighbours are the executed neighbours of the stand-in.
    if (layer >= STAND_IN && layer <= this.#last - 2) {
      if (owner === STAND_IN) return layer;
      return owner === 1 ? layer - 1 : layer + 1;
    }
    if (owner !== STAND_IN) return owner;
    return layer <= 1 ? STAND_IN : this.#last - 2;
  }

  /** The segment whose copies hold that layer: a neighbour that is stood in for is a copy of the stand-in. */
  #segmentFor(segment: Segment, layer: number): Segment {
    const target = this.#layerFor(segment.layer, layer);
    if (target === segment.layer) return segment;
    const forward = this.#segments.indexOf(segment) <= 6;
    const executed = target >= STAND_IN && target <= this.#last - 2 ? STAND_IN : target;
    const half = forward ? this.#segments.slice(0, 7) : this.#segments.slice(7);
    return half.find((s) => s.layer === executed)!;
  }

  /** The same module in another layer. */
  #moduleFor(module: number, layer: number): number {
    return layer < 0 ? module : this.#renamed(layer, module, () => layer);
  }

  /** The same module in the next layer, or in the one before: by module id, 0 where not yet known. */
  #moved(module: number, by: number): number {
    const known = by > 0 ? this.#ahead : this.#behind;
    return (known[module] ||=
      module === 0 ? 0 : this.#renamed(by > 0 ? -1 : -2, module, (layer) => layer + by));
  }

  #renamed(key: number, module: number, to: (layer: number) => number): number {
    let known = this.#modules.get(key);
    if (!known) this.#modules.set(key, (known = new Map()));
    let id = known.get(module);
    if (id === undefined) {
      const { modules } = this.#tape;
      const text = modules.text(module);
      const found = LAYER.exec(text);
      if (found) {
        const [part, index] = found as unknown as [string, string];
        const end = found.index + part.length;
        id = modules.id(text.slice(0, end - index.length) + String(to(Number(index))) + text.slice(end));
      } else {
        id = module;
      }
      known.set(module, id);
    }
    return id;
  }
}
