import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { UserError } from "../base/errors.ts";

export type Environment = Readonly<{ [name: string]: string | undefined }>;

export interface ProbeSettings {
  /** "100:110": steps with stacks and synchronisations. */
  readonly deep?: string | undefined;
  readonly leaks?: boolean | undefined;
  /** Where the records go besides the folder: a `plimsoll run --listen` on another node. */
  readonly collector?: string | undefined;
  /** Experiment trackers whose current run in the training process is logged to. */
  readonly trackers?: readonly ("wandb" | "mlflow")[] | undefined;
}

/** The folder whose sitecustomize.py starts the probe: beside dist/ in the package, above src/ in the repository. */
function probeFolder(): string {
  for (const up of ["../probe/site", "../../probe/site"]) {
    const folder = fileURLToPath(new URL(up, import.meta.url));
    if (existsSync(join(folder, "sitecustomize.py"))) return folder;
  }
  throw new UserError("the probe is not where it was installed", "hint: reinstall plimsoll");
}

/** The environment that makes any Python started in it record itself into the folder. */
export function probeEnvironment(
  env: Environment,
  runFolder: string,
  settings: ProbeSettings = {},
): Environment {
  const path = [probeFolder(), env["PYTHONPATH"]].filter(Boolean).join(delimiter);
  return {
    ...env,
    PYTHONPATH: path,
    PLIMSOLL_RUN_DIR: runFolder,
    ...(settings.deep ? { PLIMSOLL_DEEP: settings.deep } : {}),
    ...(settings.collector ? { PLIMSOLL_COLLECTOR: settings.collector } : {}),
    ...(settings.leaks === false ? { PLIMSOLL_LEAKS: "0" } : {}),
    ...(settings.trackers?.length ? { PLIMSOLL_TRACKERS: settings.trackers.join(",") } : {}),
  };
}
