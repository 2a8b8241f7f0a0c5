import { UserError } from "../base/errors.ts";
import { Tape } from "../tape/tape.ts";
import { Action } from "../tape/vocabulary.ts";
import { Addresses } from "./addresses.ts";
import { earlierSegments } from "./earlier.ts";
import { BLOCK_STATES, type Records, UNKNOWN_ACTION } from "./records.ts";
import type { SegmentColumns } from "./segments.ts";

/** What is known of an address, where it is not the storage id of a live block. */
const NEVER_SEEN = -1;
const FREED = -2;
/** A storage whose free was requested but not completed; its own inverse. */
const pending = (storage: number): number => -3 - storage;

/** In the column of storages: the event has no row of its own. */
const NO_ROW = -2;
const INACTIVE = BLOCK_STATES.indexOf("inactive");
const PENDING_FREE = BLOCK_STATES.indexOf("active_pending_free");

/** A storage that was there before the first event. */
interface Earlier {
  readonly storage: number;
  readonly address: number;
  readonly bytes: number;
  readonly stream: number;
  readonly stack: number;
  /** Its free had been requested already: the history begins between request and completion. */
  readonly requested: boolean;
}

export interface History {
  readonly tape: Tape;
  /** Events whose action this version does not know. */
  readonly ignored: number;
}

/**
 * Turns the events of one device into a tape.
 *
 * PyTorch keeps a ring of the last events, so a history may begin in the middle. What was alive before is known from
 * two sides: events that free what nothing allocated, and blocks still active at the end that no event allocated.
 * Those become alloc rows before the first event, so that the allocated bytes are right at every row; the segments
 * they lay in are found the same way.
 */
export function historyTape(
  records: Records,
  events: Int32Array,
  final: SegmentColumns,
  stackId: (tape: Tape, stack: number) => number,
  info: { readonly device: number; readonly allocConf: string },
): History {
  const { action, address } = records;
  const storages = new Int32Array(events.length).fill(-1);
  const state = new Addresses();
  const earlier: Earlier[] = [];
  let next = 0;
  let rows = 0;

  const fail = (at: number, what: string): never => {
    throw new UserError(
      `device ${info.device}: events out of order: event ${at} ${what} 0x${address[events[at]!]!.toString(16)}`,
      "was recording paused and resumed? record the history in one piece",
    );
  };

  for (let at = 0; at < events.length; at++) {
    const event = events[at]!;
    const code = action[event]!;
    if (code === UNKNOWN_ACTION) {
      storages[at] = NO_ROW;
      continue;
    }
    rows++;
    if (code !== Action.alloc && code !== Action.free_requested && code !== Action.free_completed) continue;
    const place = address[event]!;
    const known = state.get(place, NEVER_SEEN);
    if (code === Action.alloc) {
      if (known >= 0) fail(at, "allocates the live address");
      state.set(place, next);
      storages[at] = next++;
      continue;
    }
    if (known === FREED) fail(at, "frees the free address");
    if (known < FREED && code === Action.free_requested) fail(at, "frees for the second time the address");
    let storage = known < FREED ? pending(known) : known;
    if (known === NEVER_SEEN) {
      storage = next++;
      const [bytes, stream] = [records.bytes[event]!, records.streams[records.stream[event]!]!];
      const requested = code === Action.free_completed;
      earlier.push({ storage, address: place, bytes, stream, stack: 0, requested });
    }
    storages[at] = storage;
    const follower = events[at + 1];
    if (code === Action.free_completed) {
      state.set(place, FREED);
    } else if (
      follower !== undefined &&
      action[follower] === Action.free_completed &&
      address[follower] === place
    ) {
      state.set(place, FREED);
      storages[++at] = NO_ROW;
    } else state.set(place, pending(storage));
  }
  const ignored = events.reduce((count, event) => count + (action[event] === UNKNOWN_ACTION ? 1 : 0), 0);

  const { blocks } = final;
  for (let segment = 0; segment < final.length; segment++) {
    for (let block = final.firstBlock[segment]!; block < final.firstBlock[segment + 1]!; block++) {
      const place = blocks.address[block]!;
      if (blocks.state[block] === INACTIVE || state.get(place, NEVER_SEEN) !== NEVER_SEEN) continue;
      state.set(place, next);
      earlier.push({
        storage: next++,
        address: place,
        bytes: blocks.requested[block]!,
        stream: final.stream[segment]!,
        stack: blocks.stack[block]!,
        requested: blocks.state[block] === PENDING_FREE,
      });
    }
  }
  earlier.sort((a, b) => a.address - b.address);

  const held = earlierSegments(records, events, final);
  const truncated = earlier.length > 0 || held.length > 0;
  const capacity = Math.max(1, held.length + 2 * earlier.length + rows);
  // Storages are numbered in the order of their alloc rows, whichever side they became known from.
  const number = new Int32Array(next).fill(-1);
  earlier.forEach(({ storage }, at) => (number[storage] = at));
  let numbered = earlier.length;
  for (let at = 0; at < events.length; at++) {
    if (storages[at]! >= 0 && number[storages[at]!] === -1) number[storages[at]!] = numbered++;
  }
  const tape = new Tape({ source: "snapshot", truncated, ...info }, capacity);
  const begin = events.length > 0 ? records.time[events[0]!]! : 0;
  for (const one of held) {
    const code = one.expandable ? Action.segment_map : Action.segment_alloc;
    tape.append(code, -1, one.bytes, tape.streamIndex(one.stream), 0, 0, 0, 0, 0, one.address, begin);
  }
  for (const one of earlier) {
    const stream = tape.streamIndex(one.stream);
    const stack = stackId(tape, one.stack);
    tape.append(Action.alloc, number[one.storage]!, one.bytes, stream, 0, 0, 0, 0, stack, one.address, begin);
  }
  for (const one of earlier) {
    if (!one.requested) continue;
    const stream = tape.streamIndex(one.stream);
    tape.append(
      Action.free_requested,
      number[one.storage]!,
      one.bytes,
      stream,
      0,
      0,
      0,
      0,
      0,
      one.address,
      begin,
    );
  }
  const streams = records.streams.map(() => -1);
  for (let at = 0; at < events.length; at++) {
    if (storages[at] === NO_ROW) continue;
    const event = events[at]!;
    const merged = storages[at + 1] === NO_ROW && action[events[at + 1]!] !== UNKNOWN_ACTION;
    let stream = streams[records.stream[event]!]!;
    if (stream < 0) {
      stream = tape.streamIndex(records.streams[records.stream[event]!]!);
      streams[records.stream[event]!] = stream;
    }
    tape.append(
      merged ? Action.free : action[event]!,
      storages[at] === -1 ? -1 : number[storages[at]!]!,
      records.bytes[event]!,
      stream,
      0,
      0,
      0,
      0,
      stackId(tape, records.stack[event]!),
      address[event]!,
      records.time[event]!,
    );
  }
  return { tape, ignored };
}
