export type Status = "pass" | "warn" | "fail";

/** One line of the table. */
export interface Check {
  readonly name: string;
  readonly status: Status;
  readonly says: string;
  /** The command or setting that mends it. */
  readonly mend: string | null;
  /** Where the knowledge comes from, when it is not a measurement of this machine. */
  readonly source: string | null;
}

export const pass = (name: string, says: string): Check => ({
  name,
  status: "pass",
  says,
  mend: null,
  source: null,
});

export const warn = (name: string, says: string, mend: string, source: string | null = null): Check => ({
  name,
  status: "warn",
  says,
  mend,
  source,
});

export const fail = (name: string, says: string, mend: string, source: string | null = null): Check => ({
  name,
  status: "fail",
  says,
  mend,
  source,
});
