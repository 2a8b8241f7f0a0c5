import type { Measured } from "./band.ts";

/** Written by bench/bands.ts from evidence/accuracy (families.jsonl, plain-alone.jsonl, plain.jsonl, trainer.jsonl). */
export const BANDS: Readonly<Record<string, Measured>> = {
  any: {
    runs: 203,
    allocated: {
      p90: 0.0001,
      worst: 0.0011,
    },
    reserved: {
      p90: 0.0002,
      worst: 0.0113,
    },
  },
  full: {
    runs: 82,
    allocated: {
      p90: 0.0001,
      worst: 0.0011,
    },
    reserved: {
      p90: 0,
      worst: 0.0052,
    },
  },
  "full, Trainer": {
    runs: 9,
    allocated: {
      p90: 0.0001,
      worst: 0.0001,
    },
    reserved: {
      p90: 0.0052,
      worst: 0.0052,
    },
  },
  "full, Trainer, adafactor": {
    runs: 2,
    allocated: {
      p90: 0.0001,
      worst: 0.0001,
    },
    reserved: {
      p90: 0.0052,
      worst: 0.0052,
    },
  },
  "full, Trainer, adamw": {
    runs: 7,
    allocated: {
      p90: 0.0001,
      worst: 0.0001,
    },
    reserved: {
      p90: 0,
      worst: 0,
    },
  },
  "full, plain loop": {
    runs: 73,
    allocated: {
      p90: 0.0001,
      worst: 0.0011,
    },
    reserved: {
      p90: 0,
      worst: 0.0019,
    },
  },
  "full, plain loop, adafactor": {
    runs: 13,
    allocated: {
      p90: 0.0001,
      worst: 0.0011,
    },
    reserved: {
      p90: 0,
      worst: 0,
    },
  },
  "full, plain loop, adamw": {
    runs: 38,
    allocated: {
      p90: 0.0001,
      worst: 0.0011,
    },
    reserved: {
      p90: 0,
      worst: 0.0016,
    },
  },
  "full, plain loop, sgd": {
    runs: 12,
    allocated: {
      p90: 0.0001,
      worst: 0.0004,
    },
    reserved: {
      p90: 0,
      worst: 0.0002,
    },
  },
  "full, plain loop, sgd momentum": {
    runs: 10,
    allocated: {
      p90: 0.0001,
      worst: 0.0001,
    },
    reserved: {
      p90: 0.0009,
      worst: 0.0019,
    },
  },
  lora: {
    runs: 121,
    allocated: {
      p90: 0.0001,
      worst: 0.0008,
    },
    reserved: {
      p90: 0.0002,
      worst: 0.0113,
    },
  },
  "lora, Trainer": {
    runs: 5,
    allocated: {
      p90: 0.0001,
      worst: 0.0001,
    },
    reserved: {
      p90: 0.0002,
      worst: 0.0002,
    },
  },
  "lora, Trainer, adafactor": {
    runs: 1,
    allocated: {
      p90: 0.0001,
      worst: 0.0001,
    },
    reserved: {
      p90: 0.0002,
      worst: 0.0002,
    },
  },
  "lora, Trainer, adamw": {
    runs: 4,
    allocated: {
      p90: 0.0001,
      worst: 0.0001,
    },
    reserved: {
      p90: 0,
      worst: 0,
    },
  },
  "lora, plain loop": {
    runs: 116,
    allocated: {
      p90: 0.0001,
      worst: 0.0008,
    },
    reserved: {
      p90: 0.0002,
      worst: 0.0113,
    },
  },
  "lora, plain loop, adafactor": {
    runs: 9,
    allocated: {
      p90: 0.0008,
      worst: 0.0008,
    },
    reserved: {
      p90: 0.0002,
      worst: 0.0002,
    },
  },
  "lora, plain loop, adamw": {
    runs: 99,
    allocated: {
      p90: 0.0001,
      worst: 0.0006,
    },
    reserved: {
      p90: 0.0002,
      worst: 0.0113,
    },
  },
  "lora, plain loop, sgd": {
    runs: 5,
    allocated: {
      p90: 0.0007,
      worst: 0.0007,
    },
    reserved: {
      p90: 0,
      worst: 0,
    },
  },
  "lora, plain loop, sgd momentum": {
    runs: 3,
    allocated: {
      p90: 0.0008,
      worst: 0.0008,
    },
    reserved: {
      p90: 0,
      worst: 0,
    },
  },
};
