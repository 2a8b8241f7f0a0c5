import { keyword, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { classOf, functionOf, lastWord, walk } from "../../python/nodes.ts";
import type { Call, ClassDef, Expr, Name } from "../../python/tree.ts";
import { attributesOf, methodsOf, selfAttribute } from "./classes.ts";
import { isDataLoader } from "./loaders.ts";

/** `DataLoader(Photos(root), batch_size=1)` of a dataset that opens images and hands each out as large as it is. */
export function handsOutWholeImages(file: PythonFile): boolean {
  return file.callsNamed("DataLoader").some((call) => {
    if (!isDataLoader(file.dotted(call.func)) || !isOfOne(call)) return false;
    const cls = datasetOf(keyword(call, "dataset")?.value ?? positional(call, 0), file);
    // What it is said to be for may speak of sizes as well.
    const code = cls ? file.codeOf(cls).replace(DOCUMENTED, "") : "";
    return cls !== null && opensImages(cls, file) && !ONE_SIZE.test(code);
  });
}

/** Larger batches cannot be put together of images of several sizes, unless something pads them. */
function isOfOne(call: Call): boolean {
  if (keyword(call, "collate_fn") || keyword(call, "batch_sampler")) return false;
  const size = keyword(call, "batch_size")?.value ?? positional(call, 1);
  return size === null || (size.kind === "Num" && size.text === "1");
}

/** The class of this file behind `Photos(root)`, also under a name. */
function datasetOf(given: Expr | null, file: PythonFile): ClassDef | null {
  const made = given?.kind === "Name" ? file.scopes.onlyValue(given) : given;
  const name = made?.kind === "Call" ? file.dotted(made.func) : null;
  return name === null ? null : (file.all("ClassDef").find((cls) => file.qualified(cls) === name) ?? null);
}

function opensImages(cls: ClassDef, file: PythonFile): boolean {
  return file
    .callsNamed("open", "imread", "read_image", "default_loader")
    .some(
      (call) =>
        /^(?:PIL\.Image\.open|cv2\.imread|imageio\.(?:\w+\.)*imread|skimage\.io\.imread|torchvision\.io\.read_image|torchvision\.datasets\.folder\.default_loader)$/.test(
          file.dotted(call.func) ?? "",
        ) &&
        classOf(call) === cls &&
        isInGetter(call),
    );
}

function isInGetter(call: Call): boolean {
  const fn = functionOf(call);
  return fn?.kind === "FunctionDef" && fn.name === "__getitem__";
}

const DOCUMENTED = /"{3}[^]*?"{3}/g;

/** What may make all of them one size, or says so: a transform that is handed in may as well. */
const ONE_SIZE =
  /resi[sz]e|crop|pad(?!ding_mode)|interpolat|thumbnail|letterbox|patch|tile|scale|\bself\.\w*(?:transform|tf|aug|prep|process)|\[[^\]\n]*:[^\]\n]*,[^\]\n]*:/i;

/**
 * `cv2.resize(image, (w // 4 * 4, h // 4 * 4))` in a class that hands out one image after another, as large as each is but for
 * what is over a multiple: who rounds them has images of several sizes.
 */
export function roundsOwnSides(file: PythonFile): boolean {
  return (
    file.callsNamed("imread", "open").some((call) => OPENS.test(file.dotted(call.func) ?? "")) &&
    file.callsNamed("resize").some((call) => {
      const cls = classOf(call);
      const size = positional(call, file.dotted(call.func) === "cv2.resize" ? 1 : 0);
      return (
        cls !== null &&
        size !== null &&
        methodsOf(cls).some(({ name }) => name === "__iter__" || name === "__next__") &&
        isRounded(size, file) &&
        !CUT.test(file.codeOf(cls).replace(DOCUMENTED, ""))
      );
    })
  );
}

const OPENS = /^(?:PIL\.Image\.open|cv2\.imread|imageio\.(?:\w+\.)*imread|skimage\.io\.imread)$/;

const CUT = /crop|pad(?!ding_mode)|patch|tile/i;

/** `(h // 4) * 4`, `h - h % 4`, also under a name, of a side that was read off the image. */
function isRounded(expr: Expr, file: PythonFile, depth = 0): boolean {
  if (depth > 3) return false;
  if (expr.kind === "Tuple") return expr.items.some((one) => isRounded(one, file, depth + 1));
  if (expr.kind === "Name")
    return file.scopes
      .reaching(expr)
      .some(({ how, value }) => how === "assign" && value !== null && isRounded(value, file, depth + 1));
  if (expr.kind !== "Binary") return false;
  const part = expr.op === "*" ? [expr.left, expr.right] : expr.op === "-" ? [expr.right] : [];
  const [whole] = part.flatMap((one) =>
    one.kind === "Binary" && one.op === (expr.op === "*" ? "//" : "%") ? [one] : [],
  );
  if (whole?.right.kind !== "Num") return false;
  if (whole.left.kind !== "Name") return SIDE.test(file.textOf(whole.left));
  return file.scopes
    .reaching(whole.left)
    .some(
      ({ how, value }) =>
        value !== null &&
        (/\.(?:shape|size)\b/.test(file.textOf(value)) ||
          (how === "assign" && SIDE.test(file.textOf(value)))),
    );
}

/** `image.width`, `image.size[0]`, `image.shape[-1]` */
const SIDE = /^(?!self\b)\w+\.(?:width|height|size\[-?\d\]|shape\[-?\d\]|size\(-?\d\))$/;

/**
 * `Resize(512)` and then `image.crop((0, 0, image.width // 8 * 8, image.height // 8 * 8))`, in a class that opens an image for
 * each example: one number sets the shorter side alone, and what is over a multiple is over where the other is as it comes.
 * The pictures of one film have all the same sides.
 */
export function cutsOwnSides(file: PythonFile): boolean {
  const cut = file.callsNamed("crop", "center_crop").find((call) => {
    const name = file.dotted(call.func);
    const sizes = name === null ? call.args : name.startsWith("torchvision.") ? call.args.slice(1) : [];
    return sizes.some(({ value }) => isRounded(value, file));
  });
  const cls = cut ? classOf(cut) : null;
  if (!cut || !cls || !opensImages(cls, file)) return false;
  return (
    file
      .callsNamed("Resize", "resize")
      .some((call) => classOf(call) === cls && isOfShorterSide(call, file)) &&
    !file
      .callsNamed("CenterCrop", "RandomCrop", "RandomResizedCrop", "Pad", "pad")
      .some((call) => classOf(call) === cls) &&
    !/frame|video|clip|film|sequence/i.test(file.codeOf(cls).replace(DOCUMENTED, ""))
  );
}

/** `transforms.Resize(512)`, `F.resize(image, self.side)`, and not `Resize((512, 512))`. */
function isOfShorterSide(call: Call, file: PythonFile): boolean {
  const [, word] =
    /^torchvision\.transforms\.(?:v2\.)?(?:functional\.)?(Resize|resize)$/.exec(
      file.dotted(call.func) ?? "",
    ) ?? [];
  const size = word && (keyword(call, "size")?.value ?? positional(call, word === "Resize" ? 0 : 1));
  return size ? isOneNumber(size, file) : false;
}

/** Written down, or a setting that is one number unless somebody says otherwise. */
function isOneNumber(expr: Expr, file: PythonFile, depth = 0): boolean {
  if (expr.kind === "Num") return true;
  if (depth > 2) return false;
  const own = selfAttribute(expr);
  const cls = own === null ? null : classOf(expr);
  const writes = cls ? (attributesOf(cls, file).get(own!)?.writes ?? []) : [];
  if (writes.length > 0)
    return writes.every(({ value }) => value !== null && isOneNumber(value, file, depth + 1));
  const [made, ...more] = expr.kind === "Name" ? file.scopes.reaching(expr) : [];
  if (!made || more.length > 0) return false;
  if (made.node.kind !== "Param")
    return made.how === "assign" && made.value !== null && isOneNumber(made.value, file, depth + 1);
  return (
    made.node.default?.kind === "Num" ||
    (made.node.annotation !== null && file.textOf(made.node.annotation) === "int")
  );
}

const SIZE = /^(?:(?:\w+_)?(?:size|side|res|resolution|scale|height|width)|[hw])$/;

/**
 * `yield [(index, size) for index in part]` of a sampler that draws the size for each batch: whoever is handed the pairs makes
 * images of it.
 */
export function drawsSizes(file: PythonFile, isRandom: (expr: Expr) => boolean): boolean {
  return (
    file.mentions("Sampler") &&
    file.mentions("rand") &&
    file.all("Yield").some((one) => {
      const cls = one.value ? classOf(one) : null;
      const isSampler =
        cls !== null &&
        (/Sampler/.test(cls.name) || cls.args.some(({ value }) => lastWord(value).endsWith("Sampler")));
      return isSampler && sizesPaired(one.value!).some(isRandom);
    })
  );
}

/** The names of sizes that stand in a tuple beside something else. */
function sizesPaired(expr: Expr): readonly Name[] {
  const found: Name[] = [];
  walk(expr, (node) => {
    if (node.kind === "Tuple" && node.items.length > 1)
      for (const item of node.items) if (item.kind === "Name" && SIZE.test(item.id)) found.push(item);
  });
  return found;
}
