/**
 * Which rows a page shows. All of them up to `most`; beyond that the tape is cut into runs of equal length, and of
 * each run its lowest and its highest row stand for it, so that the envelope of the curve is the tape's own and the
 * make-up at each shown row is exact. `always` are rows that may not be missed.
 */
export function sampleRows(curve: Float64Array, most: number, always: readonly number[]): Int32Array {
  if (curve.length <= most) return Int32Array.from(curve, (_, row) => row);
  const kept = new Uint8Array(curve.length);
  for (const row of always) if (row >= 0 && row < curve.length) kept[row] = 1;
  const runs = Math.floor(most / 2);
  for (let run = 0; run < runs; run++) {
    const from = Math.floor((curve.length * run) / runs);
    const to = Math.floor((curve.length * (run + 1)) / runs);
    let low = from;
    let high = from;
    for (let row = from; row < to; row++) {
      if (curve[row]! < curve[low]!) low = row;
      if (curve[row]! > curve[high]!) high = row;
    }
    kept[low] = 1;
    kept[high] = 1;
  }
  const rows: number[] = [];
  for (let row = 0; row < kept.length; row++) if (kept[row] === 1) rows.push(row);
  return Int32Array.from(rows);
}

/** For each row, and for the end of the tape, the first position at or after it. */
export function positionsOf(rows: Int32Array, length: number): Int32Array {
  const positions = new Int32Array(length + 1);
  for (let row = length, position = rows.length; row >= 0; row--) {
    if (position > 0 && rows[position - 1] === row) position--;
    positions[row] = position;
  }
  return positions;
}
