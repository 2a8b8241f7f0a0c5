/**
 * What a file may make the reader hold. Each is far above what PyTorch writes (measured on recorded snapshots),
 * and low enough that a hostile file ends in one line, not in a machine out of memory.
 */

/** One string: file names, function names and metadata are a few hundred bytes. */
export const MAX_STRING_BYTES = 1 << 20;
/** All distinct strings together. */
export const MAX_STRINGS_BYTES = 1 << 28;
/** Text of all distinct stacks, which the file holds as references and the tape as strings. */
export const MAX_STACK_TEXT = 1 << 28;
/** Frames of one stack; CPython's own recursion limit is 1000. */
export const MAX_FRAMES = 1 << 14;
/** Values on the machine's stack: a pickler that does not batch puts a whole trace there. */
export const MAX_DEPTH = 1 << 25;
/** Open marks; a snapshot needs eight. */
export const MAX_MARKS = 1 << 12;
/** Objects that can be referred back to: three for each event, 33 million in a 1 GB snapshot. */
export const MAX_MEMO = 1 << 27;
/** Lists, dicts, and items of dicts that are no record: a 1 GB snapshot has 12 million dicts. Refs have room for 2^28. */
export const MAX_OBJECTS = 1 << 26;
/** Elements of lists that are no stack: one for each event. */
export const MAX_ELEMENTS = 1 << 28;
/** Numbers that are no field of a record: settings, pool ids. */
export const MAX_LOOSE = 1 << 25;
/** Rows of annotations, each kept as an object. */
export const MAX_ANNOTATIONS = 1 << 22;
/** Entries of allocator_settings, nested ones included; PyTorch writes about thirty. */
export const MAX_SETTINGS = 1 << 12;
/** Recorded snapshots shrink 8- to 15-fold under gzip; DEFLATE's own limit is about 1000-fold. */
export const MAX_EXPANSION = 200;
/** The ratio is looked at only beyond this many decompressed bytes. */
export const EXPANSION_FREE_BYTES = 1 << 26;
