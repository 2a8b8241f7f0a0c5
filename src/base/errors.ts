/**
 * A mistake of the user's: bad input, a wrong option, a file that is not what it claims.
 * Thrown anywhere, caught once in the CLI, shown as one line, exit 2.
 */
export class UserError extends Error {
  override name = "UserError";
  /** What to do next: shown after the message, on the same line. */
  readonly hint: string | undefined;

  constructor(message: string, hint?: string) {
    super(message);
    this.hint = hint;
  }
}

/** A bug of ours: states an invariant that must hold. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`internal error: ${message}`);
}
