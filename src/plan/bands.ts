import type { Measured } from "./band.ts";

/** Written by bench/bands.ts from evidence/accuracy (plain-alone.jsonl, plain.jsonl, trainer.jsonl). */
export const BANDS: Readonly<Record<string, Measured>> = {
  any: {
    runs: 164,
    allocated: {
      p90: 0.0005,
      worst: 0.0025,
    },
    reserved: {
      p90: 0.0152,
      worst: 0.1903,
    },
  },
  full: {
    runs: 71,
    allocated: {
      p90: 0.0005,
      worst: 0.0025,
    },
    reserved: {
      p90: 0.0284,
      worst: 0.1903,
    },
  },
  "full, Trainer": {
    runs: 9,
    allocated: {
      p90: 0.0006,
      worst: 0.0006,
    },
    reserved: {
      p90: 0.1903,
      worst: 0.1903,
    },
  },
  "full, Trainer, adafactor": {
    runs: 2,
    allocated: {
      p90: 0.0001,
      worst: 0.0001,
    },
    reserved: {
      p90: 0.1903,
      worst: 0.1903,
    },
  },
  "full, Trainer, adamw": {
    runs: 7,
    allocated: {
      p90: 0.0006,
      worst: 0.0006,
    },
    reserved: {
      p90: 0.0101,
      worst: 0.0101,
    },
  },
  "full, plain loop": {
    runs: 62,
    allocated: {
      p90: 0.0003,
      worst: 0.0025,
    },
    reserved: {
      p90: 0.0284,
      worst: 0.0633,
    },
  },
  "full, plain loop, adafactor": {
    runs: 12,
    allocated: {
      p90: 0.0001,
      worst: 0.0013,
    },
    reserved: {
      p90: 0.0157,
      worst: 0.0633,
    },
  },
  "full, plain loop, adamw": {
    runs: 33,
    allocated: {
      p90: 0.0007,
      worst: 0.0025,
    },
    reserved: {
      p90: 0.0072,
      worst: 0.0361,
    },
  },
  "full, plain loop, sgd": {
    runs: 9,
    allocated: {
      p90: 0.0003,
      worst: 0.0003,
    },
    reserved: {
      p90: 0.0512,
      worst: 0.0512,
    },
  },
  "full, plain loop, sgd momentum": {
    runs: 8,
    allocated: {
      p90: 0.0005,
      worst: 0.0005,
    },
    reserved: {
      p90: 0.0562,
      worst: 0.0562,
    },
  },
  lora: {
    runs: 93,
    allocated: {
      p90: 0.0005,
      worst: 0.0022,
    },
    reserved: {
      p90: 0.0109,
      worst: 0.0805,
    },
  },
  "lora, Trainer": {
    runs: 5,
    allocated: {
      p90: 0.0005,
      worst: 0.0005,
    },
    reserved: {
      p90: 0.0051,
      worst: 0.0051,
    },
  },
  "lora, Trainer, adafactor": {
    runs: 1,
    allocated: {
      p90: 0.0004,
      worst: 0.0004,
    },
    reserved: {
      p90: 0.0051,
      worst: 0.0051,
    },
  },
  "lora, Trainer, adamw": {
    runs: 4,
    allocated: {
      p90: 0.0005,
      worst: 0.0005,
    },
    reserved: {
      p90: 0.0012,
      worst: 0.0012,
    },
  },
  "lora, plain loop": {
    runs: 88,
    allocated: {
      p90: 0.0005,
      worst: 0.0022,
    },
    reserved: {
      p90: 0.0116,
      worst: 0.0805,
    },
  },
  "lora, plain loop, adamw": {
    runs: 88,
    allocated: {
      p90: 0.0005,
      worst: 0.0022,
    },
    reserved: {
      p90: 0.0116,
      worst: 0.0805,
    },
  },
};
