import type { Measured } from "./band.ts";
export const BANDS: Readonly<Record<string, Measured>> = {};
