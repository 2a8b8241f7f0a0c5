import type { Bytes } from "../base/units.ts";

/** A value and the highest it has been. */
export interface Level {
  readonly current: Bytes;
  readonly peak: Bytes;
}

/** The counters of torch.cuda.memory_stats, by its definitions, `.all` of each. */
export interface Stats {
  /** `allocated_bytes`: sizes of blocks handed out, unsplit remainders included. */
  readonly allocated: Level;
  /** `reserved_bytes`: segments held. */
  readonly reserved: Level;
  /** `active_bytes`: allocated, or freed and still in use on another stream. */
  readonly active: Level;
  /** `requested_bytes`: what was asked for, over active blocks. */
  readonly requested: Level;
  /** `inactive_split_bytes`: free parts of segments that are partly in use; expandable segments do not count. */
  readonly inactiveSplit: Level;
  /** `num_alloc_retries` */
  readonly retries: number;
  /** `num_ooms` */
  readonly ooms: number;
  /** `num_device_alloc`: cudaMallocs and maps. */
  readonly deviceAllocs: number;
  /** `num_device_free`: cudaFrees and unmaps. */
  readonly deviceFrees: number;
}

class Gauge {
  current = 0;
  peak = 0;

  add(amount: Bytes): void {
    this.current += amount;
    if (this.current > this.peak) this.peak = this.current;
  }
}

const level = ({ current, peak }: Gauge): Level => ({ current, peak });

export class Counters {
  readonly allocated = new Gauge();
  readonly reserved = new Gauge();
  readonly active = new Gauge();
  readonly requested = new Gauge();
  readonly inactiveSplit = new Gauge();
  retries = 0;
  ooms = 0;
  deviceAllocs = 0;
  deviceFrees = 0;

  snapshot(): Stats {
    return {
      allocated: level(this.allocated),
      reserved: level(this.reserved),
      active: level(this.active),
      requested: level(this.requested),
      inactiveSplit: level(this.inactiveSplit),
      retries: this.retries,
      ooms: this.ooms,
      deviceAllocs: this.deviceAllocs,
      deviceFrees: this.deviceFrees,
    };
  }
}

/** The same under the names of torch.cuda.memory_stats. */
export function torchStats(stats: Stats): Readonly<Record<string, number>> {
  return {
    "allocated_bytes.all.peak": stats.allocated.peak,
    "allocated_bytes.all.current": stats.allocated.current,
    "reserved_bytes.all.peak": stats.reserved.peak,
    "reserved_bytes.all.current": stats.reserved.current,
    "active_bytes.all.peak": stats.active.peak,
    "requested_bytes.all.peak": stats.requested.peak,
    "inactive_split_bytes.all.peak": stats.inactiveSplit.peak,
    num_alloc_retries: stats.retries,
    num_ooms: stats.ooms,
    num_device_alloc: stats.deviceAllocs,
    num_device_free: stats.deviceFrees,
  };
}
