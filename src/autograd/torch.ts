import { assert } from "../base/errors.ts";
import type { Bytes } from "../base/units.ts";
import type { Tape } from "../tape/tape.ts";
import { Action, Kind, Phase } from "../tape/vocabulary.ts";
import { type Dtype, sizeOf } from "./dtype.ts";
import { type Backward, type Edge, type Holder, type Node, type Saved, isHolder } from "./graph.ts";
import type { Work } from "./work.ts";
import { type Storage, type Tensor, contiguousStrides, numel } from "./tensor.ts";

/** cuBLAS's workspace by compute capability (getChosenWorkspaceSize, aten/src/ATen/cuda/CublasHandlePool.cpp). */
const cublasWorkspace = (capability: number): Bytes =>
  [9, 10, 12].includes(Math.floor(capability)) ? 32 * 1024 * 1024 : 8_519_680;
/** CUBLASLT_WORKSPACE_SIZE's default, 1024 KiB (aten/src/ATen/cuda/CUDABlas.cpp). */
const CUBLASLT_WORKSPACE: Bytes = 1024 * 1024;

export interface Autocast {
  readonly dtype: Dtype;
  /** Casts of leaf weights that require grad live until the autocast block ends. */
  readonly cache: Map<Tensor, Tensor>;
}

/** Results that a selective checkpoint keeps from its forward and hands out again in its recomputation. */
export interface KeptResults {
  readonly storages: Storage[];
  replaying: boolean;
}

/** Bytes that wait in host memory. */
class HostMemory {
  current = 0;
  peak = 0;

  add(bytes: Bytes): void {
    this.current += bytes;
    this.peak = Math.max(this.peak, this.current);
  }
}

/** Hooks of a surrounding checkpoint: what it does instead of saving. */
export interface SavedHooks {
  pack(storage: Storage): Holder;
}

interface Frame {
  readonly locals: Tensor[];
}

/**
 * PyTorch without numbers: executes a model's Python on shapes and writes each allocation and free to a tape.
 *
 * Lifetime follows CPython. A result is *floating* until it is bound: `let` binds it to a local of the current
 * frame, `set` rebinds a local, `frame` is a function call whose locals die on return, `module` is an
 * nn.Module call, which also keeps its arguments alive until it returns (they sit in `_call_impl`'s tuple).
 * An operation consumes its floating arguments when it returns, as the interpreter's value stack does.
 */
export class Torch {
  readonly tape: Tape;
  phase: number = Phase.load;
  step = 0;
  gradEnabled = true;
  autocast: Autocast | null = null;
  hooks: SavedHooks | null = null;
  kept: KeptResults | null = null;
  readonly host = new HostMemory();
  readonly work: Work[] = [];
  /** Decoder layer that runs, in forward or backward; -1 outside of them. */
  layer = -1;
  /** Rows where another layer begins. */
  readonly marks: { readonly row: number; readonly layer: number }[] = [];
  /** A layer that is executed in place of `for` layers like it. */
  standIn: { readonly layer: number; readonly for: number } | null = null;
  /** Which thread runs: each has its own cuBLAS handle, and so its own workspace. */
  thread: "main" | "autograd" = "main";
  /** CUDA stream that new allocations belong to. */
  stream = 0;
  /** While set, what is made takes no memory here (its shards will); the module of each. */
  absent: Map<Storage, number> | null = null;
  /** The card's compute capability: which kernels it has. */
  readonly capability: number;
  /** `enable_input_require_grads`: embeddings come out requiring grad though their table is frozen. */
  inputsRequireGrad = false;
  /** Called when a leaf has received a gradient (an optimizer stepped inside backward). */
  onGradient: ((leaf: Tensor) => void) | null = null;
  /** Kind given to new allocations unless the operation says otherwise. */
  defaultKind: number = Kind.temporary;

  #storages = 0;
  #sequence = 0;
  #frames: Frame[] = [{ locals: [] }];
  #path: number[] = [0];
  readonly #children: Map<string, number>[] = [];
  #workspaces = new Set<string>();
  #temporaries: Tensor[] | null = null;
  #keeping = false;

  constructor(tape: Tape, capability = 9) {
    this.tape = tape;
    this.capability = capability;
  }

  // ── memory ────────────────────────────────────────────────────────────────────────────────────────────

  get moduleId(): number {
    return this.#path[this.#path.length - 1]!;
  }

  storage(bytes: Bytes, kind = this.defaultKind): Storage {
    if (this.#keeping) return this.#keptStorage(bytes, kind);
    return this.#freshStorage(bytes, kind);
  }

  /** Runs a kernel whose results a surrounding selective checkpoint keeps. */
  keeping<R>(body: () => R): R {
    this.#keeping = this.kept !== null;
    try {
      return body();
    } finally {
      this.#keeping = false;
    }
  }

  #keptStorage(bytes: Bytes, kind: number): Storage {
    const { storages, replaying } = this.kept!;
    // The kernel does not run again: it takes no workspace, and its results are those of the forward.
    if (replaying)
      return kind === Kind.workspace ? { id: -1, bytes: 0, row: -1, refs: 0 } : this.#handedOut(storages);
    const storage = this.#freshStorage(bytes, kind);
    if (kind !== Kind.workspace) {
      storage.refs++;
      storages.push(storage);
      this.classify(storage, Kind.activation);
    }
    return storage;
  }

  #handedOut(storages: Storage[]): Storage {
    const storage = storages.shift();
    assert(storage, "a recomputation asks for more results than its forward kept");
    // The reference that kept it passes to the first tensor over it.
    storage.refs--;
    return storage;
  }

  #freshStorage(bytes: Bytes, kind: number): Storage {
    const id = this.nextStorage();
    if (bytes === 0) return { id, bytes, row: -1, refs: 0 };
    if (this.absent) {
      const storage = { id, bytes, row: -1, refs: 0 };
      this.absent.set(storage, this.moduleId);
      return storage;
    }
    const row = this.tape.append(
      Action.alloc,
      id,
      bytes,
      this.stream,
      this.phase,
      kind,
      this.moduleId,
      this.step,
    );
    return { id, bytes, row, refs: 0 };
  }

  nextStorage(): number {
    return this.#storages++;
  }

  /** The first of `count` fresh storage ids. */
  reserveStorages(count: number): number {
    const first = this.#storages;
    this.#storages += count;
    return first;
  }

  retain(storage: Storage): void {
    storage.refs++;
  }

  release(storage: Storage): void {
    assert(storage.refs > 0, "storage released twice");
    if (--storage.refs === 0 && storage.row >= 0) {
      this.tape.append(
        Action.free,
        storage.id,
        storage.bytes,
        0,
        this.phase,
        this.tape.columns.kind[storage.row]!,
        this.tape.columns.module[storage.row]!,
        this.step,
      );
    }
  }

  /** Writes what a storage turned out to be: a temporary that gets saved is an activation. */
  classify(storage: Storage, kind: number): void {
    if (storage.row >= 0) this.tape.columns.kind[storage.row] = kind;
  }

  /** A temporary that is kept for backward is an activation. */
  keepAsActivation(storage: Storage): void {
    const { kind } = this.tape.columns;
    if (kind[storage.row] === Kind.temporary) kind[storage.row] = Kind.activation;
  }

  /** Enters a decoder layer, or leaves the last one (-1). */
  atLayer(layer: number): void {
    if (layer === this.layer) return;
    this.layer = layer;
    this.marks.push({ row: this.tape.length, layer });
  }

  /** How many layers the present one stands for. */
  get times(): number {
    return this.standIn?.layer === this.layer ? this.standIn.for : 1;
  }

  // ── tensors ───────────────────────────────────────────────────────────────────────────────────────────

  /** A fresh tensor on fresh memory. */
  empty(
    shape: readonly number[],
    dtype: Dtype,
    kind = this.defaultKind,
    strides = contiguousStrides(shape),
  ): Tensor {
    return this.#tensor(this.storage(numel(shape) * sizeOf(dtype), kind), shape, strides, dtype, false);
  }

  /** Another tensor object over the same storage. */
  alias(of: Tensor, shape: readonly number[], strides: readonly number[], dtype = of.dtype): Tensor {
    return this.#tensor(of.storage, shape, strides, dtype, true);
  }

  /** A leaf like `like` on fresh memory: a copy that came back from the host. */
  adoptFresh(like: Tensor): Tensor {
    const tensor = this.empty(like.shape, like.dtype, Kind.activation, [...like.strides]);
    tensor.floating = false;
    tensor.requiresGrad = like.requiresGrad;
    return tensor;
  }

  /** A tensor like `like` on memory that is already on the tape. */
  adopt(like: Tensor, storage: Storage): Tensor {
    const tensor = this.#tensor(storage, like.shape, like.strides, like.dtype, false);
    tensor.floating = false;
    return tensor;
  }

  #tensor(
    storage: Storage,
    shape: readonly number[],
    strides: readonly number[],
    dtype: Dtype,
    isView: boolean,
  ): Tensor {
    storage.refs++;
    const tensor: Tensor = {
      storage,
      shape,
      strides,
      dtype,
      isView,
      refs: 1,
      floating: true,
      requiresGrad: false,
      node: null,
      output: 0,
      grad: null,
      accumulator: null,
    };
    this.#temporaries?.push(tensor);
    return tensor;
  }

  /** Runs `body`; when an exception unwinds it, the temporaries it was holding die as on Python's stack. */
  unwinding(body: () => void): void {
    const outer = this.#temporaries;
    const made: Tensor[] = [];
    this.#temporaries = made;
    try {
      body();
    } catch (error) {
      for (const t of made) this.consume(t);
      throw error;
    } finally {
      this.#temporaries = outer;
    }
  }

  ref(t: Tensor): void {
    t.refs++;
  }

  unref(t: Tensor): void {
    assert(t.refs > 0, "tensor dropped twice");
    if (--t.refs > 0) return;
    const { node, grad } = t;
    t.node = null;
    t.grad = null;
    this.release(t.storage);
    if (grad) this.unref(grad);
    if (node) this.unrefNode(node);
  }

  /** A floating argument has been used up; a bound one stays. */
  consume(t: Tensor | null): void {
    if (t?.floating) {
      t.floating = false;
      this.unref(t);
    }
  }

  // ── Python's variables ────────────────────────────────────────────────────────────────────────────────

  /** `x = …`: a local of the current frame. */
  let(t: Tensor): Tensor {
    if (t.floating) t.floating = false;
    else t.refs++;
    this.#frames[this.#frames.length - 1]!.locals.push(t);
    return t;
  }

  /** `x = f(x)`: the new value is bound, then the old one dropped. */
  set(old: Tensor, value: Tensor): Tensor {
    const bound = this.let(value);
    this.drop(old);
    return bound;
  }

  /** `del x`, or the moment the interpreter last needs it. */
  drop(t: Tensor): void {
    const locals = this.#frames[this.#frames.length - 1]!.locals;
    const at = locals.lastIndexOf(t);
    assert(at >= 0, "dropped a tensor that is not a local of this frame");
    locals.splice(at, 1);
    this.unref(t);
  }

  /** A Python function call: locals die on return, results become temporaries of the caller. */
  frame<R extends Tensor | readonly Tensor[] | void>(body: () => R): R {
    const frame: Frame = { locals: [] };
    this.#frames.push(frame);
    try {
      const result = body();
      if (Array.isArray(result)) for (const t of result as readonly Tensor[]) this.#leave(t);
      else if (result) this.#leave(result as Tensor);
      return result;
    } finally {
      this.#frames.pop();
      for (const t of frame.locals) this.unref(t);
    }
  }

  #leave(t: Tensor): void {
    if (t.floating) return;
    t.refs++;
    t.floating = true;
  }

  /** An nn.Module call. The arguments stay alive until it returns. */
  module<R extends Tensor | readonly Tensor[] | void>(
    name: string,
    args: readonly Tensor[],
    body: () => R,
  ): R {
    this.#path.push(this.#child(this.moduleId, name));
    for (const t of args) {
      if (t.floating) t.floating = false;
      else t.refs++;
    }
    try {
      return this.frame(body);
    } finally {
      this.#path.pop();
      for (const t of args) {
        // A module may return its own argument: the result's reference is then separate from the call's.
        const returned = t.floating;
        t.floating = false;
        this.unref(t);
        t.floating = returned;
      }
    }
  }

  /** Id of a module's child, remembered: joining and interning names at every call is what costs. */
  #child(parent: number, name: string): number {
    const known = (this.#children[parent] ??= new Map());
    let id = known.get(name);
    if (id === undefined) {
      const { modules } = this.tape;
      id = modules.id(parent === 0 ? name : `${modules.text(parent)}.${name}`);
      known.set(name, id);
    }
    return id;
  }

  /** Attributes what follows to a module, until `leave`. */
  enter(module: number): void {
    this.#path.push(module);
  }

  leave(): void {
    this.#path.pop();
  }

  /** Attributes what `body` allocates to a module without a Python call (backward). */
  within<R>(module: number, body: () => R): R {
    this.#path.push(module);
    try {
      return body();
    } finally {
      this.#path.pop();
    }
  }

  noGrad<R>(body: () => R): R {
    const before = this.gradEnabled;
    this.gradEnabled = false;
    try {
      return body();
    } finally {
      this.gradEnabled = before;
    }
  }

  autocasting<R>(dtype: Dtype, body: () => R): R {
    const before = this.autocast;
    const autocast: Autocast = { dtype, cache: new Map() };
    this.autocast = autocast;
    try {
      return body();
    } finally {
      this.autocast = before;
      for (const cast of autocast.cache.values()) this.unref(cast);
    }
  }

  /** The first cuBLAS call of a thread takes a workspace through the caching allocator and keeps it. */
  useCublas(): void {
    if (this.#workspaces.has(this.thread)) return;
    this.#workspaces.add(this.thread);
    const module = 0;
    this.within(module, () => this.retain(this.storage(cublasWorkspace(this.capability), Kind.workspace)));
  }

  /** A matrix product of [rows × inner] by [inner × columns], `batch` times. */
  multiply(rows: number, columns: number, inner: number, dtype: Dtype, batch = 1): void {
    this.useCublas();
    this.work.push({ kind: "product", rows, columns, inner, batch, dtype, times: this.times });
  }

  /** A product with a bias goes through cuBLASLt, which has a workspace of its own beside the handle's. */
  useCublasLt(): void {
    this.useCublas();
    const key = `${this.thread} lt`;
    if (this.#workspaces.has(key)) return;
    this.#workspaces.add(key);
    this.within(0, () => this.retain(this.storage(CUBLASLT_WORKSPACE, Kind.workspace)));
  }

  // ── the graph ─────────────────────────────────────────────────────────────────────────────────────────

  tracks(inputs: readonly (Tensor | null)[]): boolean {
    if (!this.gradEnabled) return false;
    for (const t of inputs) if (t?.requiresGrad) return true;
    return false;
  }

  /** Records that `outputs` were computed from `inputs`; `saved` comes from `save`. */
  record(
    name: string,
    outputs: readonly Tensor[],
    inputs: readonly (Tensor | null)[],
    saved: Saved[],
    backward: Backward,
  ): void {
    const edges = new Array<Edge | null>(inputs.length);
    for (let i = 0; i < inputs.length; i++) {
      const t = inputs[i];
      const edge = t?.requiresGrad ? this.#edge(t) : null;
      edges[i] = edge;
      if (edge) edge.node.refs++;
    }
    const node: Node = {
      name,
      sequence: this.#sequence++,
      module: this.moduleId,
      layer: this.layer,
      edges,
      inputs,
      outputs: outputs.length,
      saved,
      backward,
      refs: outputs.length,
      waiting: 0,
      buffer: null,
      held: null,
      leaf: null,
    };
    for (let i = 0; i < outputs.length; i++) {
      const output = outputs[i]!;
      output.node = node;
      output.output = i;
      output.requiresGrad = true;
    }
  }

  /**
   * Keeps tensors for backward, or hands them to the surrounding checkpoint. PyTorch saves an operation's
   * inputs before it runs and its outputs after; a recomputation that stops early shows the difference.
   */
  save(tensors: readonly Tensor[]): Saved[] {
    const { hooks } = this;
    if (hooks) return tensors.map((t) => hooks.pack(t.storage));
    const saved = new Array<Saved>(tensors.length);
    for (let i = 0; i < tensors.length; i++) {
      const { storage } = tensors[i]!;
      storage.refs++;
      this.keepAsActivation(storage);
      saved[i] = storage;
    }
    return saved;
  }

  #edge(t: Tensor): Edge {
    return t.node ? { node: t.node, output: t.output } : { node: this.#accumulator(t), output: 0 };
  }

  #accumulator(t: Tensor): Node {
    if (t.accumulator) return t.accumulator;
    t.refs++;
    t.accumulator = {
      name: "AccumulateGrad",
      sequence: Number.MAX_SAFE_INTEGER,
      module: this.tape.columns.module[t.storage.row] ?? 0,
      layer: -1,
      edges: [],
      inputs: [],
      outputs: 1,
      saved: [],
      backward: () => [],
      refs: 0,
      waiting: 0,
      buffer: null,
      held: [t],
      leaf: t,
    };
    return t.accumulator;
  }

  releaseSaved(node: Node): void {
    const saved = node.saved;
    node.saved = [];
    for (const s of saved) {
      if (isHolder(s)) s.release();
      else this.release(s);
    }
  }

  unrefNode(root: Node): void {
    const work = [root];
    for (let node = work.pop(); node; node = work.pop()) {
      if (--node.refs > 0) continue;
      this.releaseSaved(node);
      if (node.leaf) node.leaf.accumulator = null;
      if (node.held) for (const t of node.held) this.unref(t);
      node.held = null;
      for (const edge of node.edges) if (edge) work.push(edge.node);
    }
  }
}
