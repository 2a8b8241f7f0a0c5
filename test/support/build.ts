import { bootstrapNode } from "../../scripts/bootstrap.mjs";
import { Stop } from "../../scripts/process.mjs";

/**
 * Tests of the command line run the bundle that users get: see to it that it is this source's.
 * When it cannot be built, only they fail (see cli.ts), so that the floors below can still be tested.
 */
export default function setup(): void {
  try {
    bootstrapNode();
  } catch (error) {
    if (!(error instanceof Stop)) throw error;
    process.env["PLIMSOLL_BUILD_FAILED"] = error.message;
  }
}
