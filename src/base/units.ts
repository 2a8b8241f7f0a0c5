/** Units are types: a number of bytes is not a number of tokens. The brand exists only for the compiler. */
declare const unit: unique symbol;
type Unit<U extends string> = number & { readonly [unit]?: U };

export type Bytes = Unit<"bytes">;
export type Seconds = Unit<"seconds">;

export const KiB: Bytes = 1024;
export const MiB: Bytes = 1024 ** 2;
export const GiB: Bytes = 1024 ** 3;
/** Cards, file systems and this tool's own output count decimal gigabytes unless a "GiB" is written. */
export const GB: Bytes = 1e9;

const SCALE: Readonly<Record<string, number>> = {
  "": 1,
  b: 1,
  k: 1e3,
  kb: 1e3,
  kib: KiB,
  m: 1e6,
  mb: 1e6,
  mib: MiB,
  g: 1e9,
  gb: 1e9,
  gib: GiB,
  t: 1e12,
  tb: 1e12,
  tib: 1024 ** 4,
};

/** Reads "24GB", "24 GiB", "512MiB", "1.5e9". Returns null for anything else. */
export function parseBytes(text: string): Bytes | null {
  const match = /^\s*([0-9]*\.?[0-9]+(?:e[0-9]+)?)\s*([a-z]*)\s*$/i.exec(text);
  if (!match) return null;
  const scale = SCALE[match[2]!.toLowerCase()];
  const value = Number(match[1]);
  if (scale === undefined || !Number.isFinite(value)) return null;
  return Math.round(value * scale);
}

/** "27.6 GB", "512 MB", "3.2 kB", "17 B": three significant digits, decimal units. */
export function formatBytes(bytes: Bytes): string {
  const sign = bytes < 0 ? "-" : "";
  const size = Math.abs(bytes);
  if (size < 1000) return `${sign}${Math.round(size)} B`;
  const units = ["kB", "MB", "GB", "TB"] as const;
  let value = size / 1000;
  let at = 0;
  while (value >= 999.5 && at < units.length - 1) {
    value /= 1000;
    at++;
  }
  const digits = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return `${sign}${value.toFixed(digits)} ${units[at]}`;
}
