import { spawn, type ChildProcess } from "node:child_process";
import type { Bytes } from "../base/units.ts";

export interface Card {
  readonly uuid: string;
  readonly used: Bytes;
  readonly free: Bytes;
}

const MIB = 2 ** 20;
const QUERY = ["--query-gpu=uuid,memory.used,memory.free", "--format=csv,noheader,nounits", "-l", "2"];

/** The driver's own figures, from outside the training process. Quiet where there is no nvidia-smi. */
export class Nvidia {
  readonly cards = new Map<string, Card>();
  #child: ChildProcess | null = null;

  start(): void {
    if (this.#child) return;
    const child = spawn("nvidia-smi", QUERY, { stdio: ["ignore", "pipe", "ignore"] });
    this.#child = child;
    child.on("error", () => {});
    let rest = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) this.#line(line);
    });
  }

  stop(): void {
    // A program that was not found has no number, and Node would send the signal to number 0: our whole group.
    if (this.#child?.pid !== undefined) this.#child.kill();
  }

  #line(line: string): void {
    const [uuid, used, free] = line.split(",").map((part) => part.trim());
    if (!uuid || Number.isNaN(Number(used))) return;
    this.cards.set(uuid.replace(/^GPU-/, ""), { uuid, used: Number(used) * MIB, free: Number(free) * MIB });
  }
}
