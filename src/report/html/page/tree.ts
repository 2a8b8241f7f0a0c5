import { noFrames, largest } from "./makeup.ts";
import { liveBySite, type Recording, siteOf, type Site } from "./recording.ts";

export type Grouping = "stack" | "module";

/** A box of the flame graph: a frame or a part of a module's path, with all that is beneath it. */
export interface Box {
  readonly name: string;
  readonly parent: Box | null;
  readonly children: Box[];
  bytes: number;
  count: number;
  /** Code of the kind that most of its bytes are of: its colour. Null where none is. */
  kind: number | null;
}

const MOSTLY = 0.8;

/** Frames that carry a call from one line that matters to the next. */
const PLUMBING =
  /[\\/]torch[\\/](?:nn[\\/]modules[\\/]module|utils[\\/]_contextlib|utils[\\/]_device|_tensor|_ops|autograd[\\/]grad_mode)\.py:|[\\/]transformers[\\/]utils[\\/]generic\.py:|[\\/]contextlib\.py:|[\\/]transformers[\\/]modeling_layers\.py:|^<frozen /;

/** Not `inFull`, plumbing is left out and the numbered layers of a model lie on one another: "layers[…]". */
export function growTree(recording: Recording, position: number, grouping: Grouping, inFull: boolean): Box {
  const { head } = recording;
  const root: Building = building("all", null);
  for (const [id, { bytes, count }] of liveBySite(recording, position)) {
    const site = siteOf(head, id);
    let box = root;
    add(box, bytes, count, site.kind);
    for (const name of pathOf(recording, site, grouping, inFull)) {
      let child = box.byName.get(name);
      if (!child) {
        child = building(name, box.box);
        box.byName.set(name, child);
        box.box.children.push(child.box);
      }
      box = child;
      add(box, bytes, count, site.kind);
    }
  }
  finish(root);
  return root.box;
}

interface Building {
  readonly box: Box;
  readonly byName: Map<string, Building>;
  readonly kinds: Map<number, number>;
}

function building(name: string, parent: Box | null): Building {
  return {
    box: { name, parent, children: [], bytes: 0, count: 0, kind: null },
    byName: new Map(),
    kinds: new Map(),
  };
}

function add({ box, kinds }: Building, bytes: number, count: number, kind: number): void {
  box.bytes += bytes;
  box.count += count;
  kinds.set(kind, (kinds.get(kind) ?? 0) + bytes);
}

function finish(start: Building): void {
  // A stack of its own: recorded ones may be deeper than the script's.
  const open = [start];
  for (let one = open.pop(); one; one = open.pop()) {
    const kind = largest(one.kinds);
    one.box.kind = one.kinds.get(kind)! >= MOSTLY * one.box.bytes ? kind : null;
    one.box.children.sort((a, b) => b.bytes - a.bytes);
    open.push(...one.byName.values());
  }
}

function pathOf({ head }: Recording, site: Site, grouping: Grouping, inFull: boolean): readonly string[] {
  if (grouping === "stack") {
    const frames = head.stacks[site.stack]!.map((id) => head.frames[id]!);
    const shown = inFull ? frames : frames.filter((frame) => !PLUMBING.test(frame));
    return shown.length > 0 ? shown : [noFrames(head.phases[site.phase]!)];
  }
  const module = head.modules[site.module]!;
  if (module === "")
    return [head.predicted ? "(outside the model)" : "(no model code on the stack)", head.kinds[site.kind]!];
  // Names in a model are joined by dots; chains of lines (inspect/frames.ts) by slashes.
  if (module.includes(":")) return [...module.split("/"), head.kinds[site.kind]!];
  const names = inFull ? module : module.replaceAll(/\.\d+(?=\.|$)/g, "[…]");
  return [...names.split("."), head.kinds[site.kind]!];
}
