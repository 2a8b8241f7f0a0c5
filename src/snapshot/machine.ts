import { UserError } from "../base/errors.ts";
import { BOXED, DICT, FALSE, Heap, LIST, NONE, NUMBER, OPAQUE, STRING, TRUE } from "./heap.ts";
import { MAX_DEPTH, MAX_MARKS, MAX_MEMO, MAX_OBJECTS, MAX_STRING_BYTES } from "./limits.ts";
import { Op, REFUSED } from "./opcodes.ts";
import { bad, lengthAt, lineAt, littleEndian, numberOf } from "./operands.ts";
import { Records } from "./records.ts";

const HINT = "is the file complete, and written by torch.cuda.memory._dump_snapshot?";
/** In the memo: nothing was put there. The ref of a bare number, which the memo holds boxed. */
const UNSET = 0;

/**
 * Reads a pickle that holds only data. Fed with chunks of any size; an opcode that a chunk cuts in two waits for the
 * next. It runs nothing: opcodes that name or call code are refused.
 */
export class Machine {
  readonly heap = new Heap();
  readonly records = new Records(this.heap);
  done = false;
  root = NONE;

  /** The stack: a ref and, for numbers, the value. */
  #refs = new Int32Array(1 << 12);
  #numbers = new Float64Array(1 << 12);
  #sp = 0;
  readonly #marks = new Int32Array(MAX_MARKS);
  #mp = 0;
  #memo = new Int32Array(1 << 12);
  #memoized = 0;

  /** Bytes of the file before the current chunk. */
  #base = 0;
  #carry = new Uint8Array(0);
  /** Bytes of data nobody asks for, still to pass. */
  #skip = 0;
  #frameEnd = 0;

  push(chunk: Uint8Array): void {
    if (this.done || chunk.length === 0) return;
    if (this.#skip > 0) {
      const passed = Math.min(this.#skip, chunk.length);
      this.#skip -= passed;
      this.#base += passed;
      chunk = chunk.subarray(passed);
      if (chunk.length === 0) return;
    }
    let data = chunk;
    if (this.#carry.length > 0) {
      data = new Uint8Array(this.#carry.length + chunk.length);
      data.set(this.#carry);
      data.set(chunk, this.#carry.length);
    }
    this.#reserve(data.length);
    const used = this.#run(data);
    this.#base += used;
    // A copy: the caller reuses its chunk, and a Buffer's slice would share it.
    this.#carry = Uint8Array.from(this.done ? [] : data.subarray(used));
  }

  end(): void {
    if (this.done) return;
    const at = this.#base + this.#carry.length;
    if (at === 0) throw new UserError("the file is empty", HINT);
    throw new UserError(`the file ends in the middle of the pickle, at byte ${at}`, HINT);
  }

  /** No opcode pushes, memoises or makes more than one thing, so a chunk's length bounds them all. */
  #reserve(bytes: number): void {
    if (!this.heap.reserve(bytes)) this.#fail(0, `more than ${MAX_OBJECTS} lists or dicts`);
    const depth = this.#sp + bytes;
    if (depth > this.#refs.length) {
      const capacity = Math.max(depth, this.#refs.length * 2);
      const refs = new Int32Array(capacity);
      refs.set(this.#refs);
      this.#refs = refs;
      const numbers = new Float64Array(capacity);
      numbers.set(this.#numbers);
      this.#numbers = numbers;
    }
    this.#reserveMemo(this.#memoized + bytes);
  }

  #reserveMemo(size: number): void {
    const old = this.#memo;
    if (size <= old.length) return;
    const memo = new Int32Array(Math.max(size, old.length * 2));
    memo.set(old);
    this.#memo = memo;
  }

  #fail(at: number, message: string): never {
    throw new UserError(`${message}, at byte ${this.#base + at}`, HINT);
  }

  /** Runs what is complete in `data` and returns how many bytes that was. */
  #run(data: Uint8Array): number {
    const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
    const end = data.length;
    const { heap, records } = this;
    const strings = records.strings;
    const refs = this.#refs;
    const numbers = this.#numbers;
    const marks = this.#marks;
    const memo = this.#memo;
    let sp = this.#sp;
    let mp = this.#mp;
    let memoized = this.#memoized;
    /** Values below belong to an open mark. */
    let floor = mp > 0 ? marks[mp - 1]! : 0;
    let pos = 0;
    let start = 0;
    let whole = false;

    if (this.#base === 0) {
      if (end < 2) return 0;
      if (data[0] !== Op.PROTO || data[1]! < 2 || data[1]! > 5)
        this.#fail(0, "not a pickle of protocol 2 to 5");
    }

    try {
      loop: for (;;) {
        start = pos;
        if (pos >= end) {
          whole = true;
          break;
        }
        const op = data[pos++]!;
        // Literals, because only those become a jump table: `case Op.X` would be compared one after the other.
        switch (op) {
          case 0x6a /* LONG_BINGET */:
          case 0x68 /* BINGET */: {
            let index: number;
            if (op === Op.BINGET) {
              if (pos >= end) break loop;
              index = data[pos++]!;
            } else {
              if (pos + 4 > end) break loop;
              index = data[pos]! | (data[pos + 1]! << 8) | (data[pos + 2]! << 16) | (data[pos + 3]! << 24);
              pos += 4;
            }
            const ref = index >= 0 && index < memo.length ? memo[index]! : UNSET;
            if (ref === UNSET) bad(`reference to object ${index >>> 0} that does not exist`);
            if ((ref & 7) === BOXED) {
              refs[sp] = NUMBER;
              numbers[sp++] = heap.unbox(ref);
            } else refs[sp++] = ref;
            continue;
          }
          case 0x94 /* MEMOIZE */: {
            if (sp <= floor) bad("MEMOIZE with nothing to memoise");
            if (memoized >= MAX_MEMO) bad(`more than ${MAX_MEMO} objects`);
            const ref = refs[sp - 1]!;
            memo[memoized++] = ref === NUMBER ? heap.box(numbers[sp - 1]!) : ref;
            continue;
          }
          case 0x8a /* LONG1 */: {
            if (pos >= end) break loop;
            const length = data[pos]!;
            if (pos + 1 + length > end) break loop;
            refs[sp] = NUMBER;
            numbers[sp++] = littleEndian(data, pos + 1, length);
            pos += 1 + length;
            continue;
          }
          case 0x4b /* BININT1 */:
            if (pos >= end) break loop;
            refs[sp] = NUMBER;
            numbers[sp++] = data[pos++]!;
            continue;
          case 0x4d /* BININT2 */:
            if (pos + 2 > end) break loop;
            refs[sp] = NUMBER;
            numbers[sp++] = data[pos]! | (data[pos + 1]! << 8);
            pos += 2;
            continue;
          case 0x4a /* BININT */:
            if (pos + 4 > end) break loop;
            refs[sp] = NUMBER;
            numbers[sp++] = view.getInt32(pos, true);
            pos += 4;
            continue;
          case 0x8c /* SHORT_BINUNICODE */: {
            if (pos >= end) break loop;
            const to = pos + 1 + data[pos]!;
            if (to > end) break loop;
            refs[sp++] = (strings.id(data, pos + 1, to) << 3) | STRING;
            pos = to;
            continue;
          }
          case 0x7d /* EMPTY_DICT */:
            refs[sp++] = heap.newDict();
            continue;
          case 0x5d /* EMPTY_LIST */:
          case 0x8f /* EMPTY_SET */:
          case 0x29 /* EMPTY_TUPLE */:
            refs[sp++] = heap.newList();
            continue;
          case 0x28 /* MARK */:
            if (mp === MAX_MARKS) bad(`nested more than ${MAX_MARKS} deep`);
            marks[mp++] = floor = sp;
            continue;
          case 0x75 /* SETITEMS */: {
            if (mp === 0) bad("SETITEMS without a mark");
            const from = floor;
            floor = --mp > 0 ? marks[mp - 1]! : 0;
            if (from <= floor || (refs[from - 1]! & 7) !== DICT)
              bad("SETITEMS on something that is not a dict");
            if ((sp - from) % 2 !== 0) bad("SETITEMS with a key that has no value");
            records.fill(refs[from - 1]! >> 3, refs, numbers, from, sp);
            sp = from;
            continue;
          }
          case 0x73 /* SETITEM */:
            if (sp - 3 < floor || (refs[sp - 3]! & 7) !== DICT)
              bad("SETITEM on something that is not a dict");
            heap.putAll(refs[sp - 3]! >> 3, refs, numbers, sp - 2, sp);
            sp -= 2;
            continue;
          case 0x65 /* APPENDS */:
          case 0x90 /* ADDITEMS */: {
            if (mp === 0) bad("APPENDS without a mark");
            const from = floor;
            floor = --mp > 0 ? marks[mp - 1]! : 0;
            if (from <= floor || (refs[from - 1]! & 7) !== LIST)
              bad("APPENDS on something that is not a list");
            if (!heap.append(refs[from - 1]! >> 3, refs, numbers, from, sp))
              bad("a list of frames grows after its use");
            sp = from;
            continue;
          }
          case 0x61 /* APPEND */:
            if (sp - 2 < floor || (refs[sp - 2]! & 7) !== LIST) bad("APPEND on something that is not a list");
            if (!heap.append(refs[sp - 2]! >> 3, refs, numbers, sp - 1, sp))
              bad("a list of frames grows after its use");
            sp--;
            continue;
          case 0x85 /* TUPLE1 */:
          case 0x86 /* TUPLE2 */:
          case 0x87 /* TUPLE3 */: {
            const count = op - Op.TUPLE1 + 1;
            if (sp - count < floor) bad("a tuple of more values than there are");
            const list = heap.newList();
            heap.append(list >> 3, refs, numbers, sp - count, sp);
            sp -= count;
            refs[sp++] = list;
            continue;
          }
          case 0x74 /* TUPLE */:
          case 0x6c /* LIST */:
          case 0x91 /* FROZENSET */: {
            if (mp === 0) bad("a tuple without a mark");
            const list = heap.newList();
            heap.append(list >> 3, refs, numbers, floor, sp);
            sp = floor;
            floor = --mp > 0 ? marks[mp - 1]! : 0;
            refs[sp++] = list;
            continue;
          }
          case 0x64 /* DICT */: {
            if (mp === 0) bad("DICT without a mark");
            if ((sp - floor) % 2 !== 0) bad("DICT with a key that has no value");
            const dict = heap.newDict();
            records.fill(dict >> 3, refs, numbers, floor, sp);
            sp = floor;
            floor = --mp > 0 ? marks[mp - 1]! : 0;
            refs[sp++] = dict;
            continue;
          }
          case 0x4e /* NONE */:
            refs[sp++] = NONE;
            continue;
          case 0x88 /* NEWTRUE */:
            refs[sp++] = TRUE;
            continue;
          case 0x89 /* NEWFALSE */:
            refs[sp++] = FALSE;
            continue;
          case 0x47 /* BINFLOAT */:
            if (pos + 8 > end) break loop;
            refs[sp] = NUMBER;
            numbers[sp++] = view.getFloat64(pos, false);
            pos += 8;
            continue;
          case 0x58 /* BINUNICODE */:
          case 0x54 /* BINSTRING */:
          case 0x8d /* BINUNICODE8 */:
          case 0x55 /* SHORT_BINSTRING */: {
            const width = op === Op.SHORT_BINSTRING ? 1 : op === Op.BINUNICODE8 ? 8 : 4;
            if (pos + width > end) break loop;
            const length = lengthAt(view, pos, width);
            if (length > MAX_STRING_BYTES) bad(`a string claims ${length} bytes`);
            if (pos + width + length > end) break loop;
            refs[sp++] = (strings.id(data, pos + width, pos + width + length) << 3) | STRING;
            pos += width + length;
            continue;
          }
          case 0x43 /* SHORT_BINBYTES */:
          case 0x42 /* BINBYTES */:
          case 0x8e /* BINBYTES8 */:
          case 0x96 /* BYTEARRAY8 */:
          case 0x8b /* LONG4 */: {
            const width = op === Op.SHORT_BINBYTES ? 1 : op === Op.BINBYTES || op === Op.LONG4 ? 4 : 8;
            if (pos + width > end) break loop;
            const length = lengthAt(view, pos, width);
            if (length > MAX_STRING_BYTES) bad(`bytes or an integer of claimed ${length} bytes`);
            if (op === Op.LONG4 && length <= 8) {
              if (pos + width + length > end) break loop;
              refs[sp] = NUMBER;
              numbers[sp++] = littleEndian(data, pos + width, length);
              pos += width + length;
              continue;
            }
            refs[sp] = op === Op.LONG4 ? NUMBER : OPAQUE;
            numbers[sp++] = Number.POSITIVE_INFINITY;
            pos += width;
            const here = Math.min(length, end - pos);
            pos += here;
            this.#skip = length - here;
            continue;
          }
          case 0x95 /* FRAME */: {
            if (pos + 8 > end) break loop;
            const length = lengthAt(view, pos, 8);
            pos += 8;
            this.#frameEnd = this.#base + pos + length;
            continue;
          }
          case 0x80 /* PROTO */:
            if (pos >= end) break loop;
            if (data[pos]! > 5) bad(`pickle protocol ${data[pos]}, which does not exist yet`);
            pos++;
            continue;
          case 0x2e /* STOP */:
            if (this.#base + pos < this.#frameEnd)
              bad(`a frame claims bytes up to ${this.#frameEnd}, but the pickle ends`);
            if (sp <= floor) bad("the pickle holds nothing");
            this.root = refs[sp - 1]!;
            this.done = true;
            sp--;
            break loop;
          case 0x71 /* BINPUT */:
          case 0x72 /* LONG_BINPUT */:
          case 0x70 /* PUT */: {
            let index: number;
            if (op === Op.PUT) {
              const line = lineAt(data, pos);
              if (line === undefined) break loop;
              pos += line.length + 1;
              index = /^[0-9]{1,12}$/.test(line) ? Number(line) : -1;
            } else {
              const width = op === Op.BINPUT ? 1 : 4;
              if (pos + width > end) break loop;
              index = width === 1 ? data[pos]! : view.getUint32(pos, true);
              pos += width;
            }
            if (sp <= floor) bad("PUT with nothing to memoise");
            // Each PUT takes at least two bytes, so an honest index is below the bytes read so far.
            if (index < 0 || index >= MAX_MEMO || index > this.#base + pos)
              bad(`object number ${index} where far fewer exist`);
            if (index >= memo.length) {
              // The memo is replaced: come back to this opcode with the new one.
              pos = start;
              this.#reserveMemo(index + 1);
              break loop;
            }
            const ref = refs[sp - 1]!;
            memo[index] = ref === NUMBER ? heap.box(numbers[sp - 1]!) : ref;
            // MEMOIZE numbers by how many there are; picklers never mix the two.
            if (index >= memoized) memoized = index + 1;
            continue;
          }
          case 0x67 /* GET */: {
            const line = lineAt(data, pos);
            if (line === undefined) break loop;
            pos += line.length + 1;
            const index = /^[0-9]{1,12}$/.test(line) ? Number(line) : memo.length;
            const ref = index < memo.length ? memo[index]! : UNSET;
            if (ref === UNSET) bad(`reference to object ${line.slice(0, 20)} that does not exist`);
            refs[sp] = (ref & 7) === BOXED ? NUMBER : ref;
            numbers[sp++] = heap.number(ref);
            continue;
          }
          case 0x49 /* INT */:
          case 0x4c /* LONG */:
          case 0x46 /* FLOAT */: {
            const line = lineAt(data, pos);
            if (line === undefined) break loop;
            pos += line.length + 1;
            numbers[sp] = numberOf(line);
            refs[sp++] =
              op === Op.INT && line === "01" ? TRUE : op === Op.INT && line === "00" ? FALSE : NUMBER;
            continue;
          }
          case 0x53 /* STRING */:
          case 0x56 /* UNICODE */: {
            const line = lineAt(data, pos);
            if (line === undefined) break loop;
            const quoted = op === Op.STRING && line.length >= 2 ? 1 : 0;
            refs[sp++] = (strings.id(data, pos + quoted, pos + line.length - quoted) << 3) | STRING;
            pos += line.length + 1;
            continue;
          }
          case 0x30 /* POP */:
            // On a mark POP takes the mark, as CPython does.
            if (sp > floor) sp--;
            else if (mp > 0) floor = --mp > 0 ? marks[mp - 1]! : 0;
            else bad("POP on an empty stack");
            continue;
          case 0x31 /* POP_MARK */:
            if (mp === 0) bad("POP_MARK without a mark");
            sp = floor;
            floor = --mp > 0 ? marks[mp - 1]! : 0;
            continue;
          case 0x32 /* DUP */:
            if (sp <= floor) bad("DUP on an empty stack");
            refs[sp] = refs[sp - 1]!;
            numbers[sp] = numbers[sp - 1]!;
            sp++;
            continue;
          case 0x63 /* GLOBAL */:
          case 0x69 /* INST */: {
            const module = lineAt(data, pos);
            const name = module === undefined ? undefined : lineAt(data, pos + module.length + 1);
            if (module === undefined || name === undefined) break loop;
            this.#refuse(start, `${module}.${name}`);
            break;
          }
          case 0x93 /* STACK_GLOBAL */: {
            const part = (at: number): string =>
              at >= floor && (refs[at]! & 7) === STRING ? strings.text(refs[at]! >> 3) : "?";
            this.#refuse(start, `${part(sp - 2)}.${part(sp - 1)}`);
            break;
          }
          default: {
            const name = REFUSED.get(op);
            if (name) bad(`refused ${name}: a snapshot holds only data`);
            bad(`0x${op.toString(16).padStart(2, "0")} is no pickle opcode`);
          }
        }
      }
    } catch (error) {
      // Records and the heap do not know where in the file they are.
      if (error instanceof UserError && error.hint === undefined) this.#fail(start, error.message);
      throw error;
    }
    // An opcode that the chunk cut in two is read again from its start.
    if (!whole && !this.done) pos = start;
    if (sp > MAX_DEPTH) this.#fail(start, `more than ${MAX_DEPTH} values on the stack`);
    this.#sp = sp;
    this.#mp = mp;
    this.#memoized = memoized;
    return pos;
  }

  #refuse(start: number, name: string): never {
    const shown = name.slice(0, 200).replace(/[^\x20-\x7e]/g, "?");
    throw new UserError(
      `refused global ${shown} at byte ${this.#base + start}: a snapshot holds only data`,
      "do not open this file with Python's pickle: loading it would run that code",
    );
  }
}
