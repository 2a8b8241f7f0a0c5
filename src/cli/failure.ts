import { UserError } from "../base/errors.ts";

/** What a user sees of an error: one line, ending in the hint where there is one; the stack only when asked for. */
export function describeFailure(error: unknown, debug: boolean): string {
  const message = oneLine(describe(error));
  const hint = error instanceof UserError && error.hint ? `; ${oneLine(error.hint)}` : "";
  const stack = debug && error instanceof Error && error.stack ? `${error.stack}\n` : "";
  return `plimsoll: ${message}${hint}\n${stack}`;
}

function describe(error: unknown): string {
  if (error instanceof UserError) return error.message;
  if (isSystemError(error)) return systemMessage(error);
  const message = error instanceof Error ? error.message : String(error);
  const prefix = message.startsWith("internal error") ? "" : "internal error: ";
  return `${prefix}${message} (a bug of plimsoll's; --debug shows where)`;
}

const SYSTEM_MESSAGES: Readonly<Record<string, string>> = {
  ENOENT: "no such file or folder",
  EACCES: "permission denied",
  EPERM: "not permitted",
  EISDIR: "is a folder, not a file",
  ENOTDIR: "not a folder",
  ENOSPC: "no space left on the device",
  EROFS: "read-only file system",
  EMFILE: "too many open files",
};

function isSystemError(error: unknown): error is NodeJS.ErrnoException & { code: string } {
  return error instanceof Error && "syscall" in error && "code" in error && typeof error.code === "string";
}

function systemMessage(error: NodeJS.ErrnoException & { code: string }): string {
  const what = SYSTEM_MESSAGES[error.code] ?? error.message;
  return error.path ? `${error.path}: ${what}` : what;
}

/** A file's bytes may be part of a message: what would steer a terminal is shown as a dot. */
function oneLine(text: string): string {
  return text
    .replace(/\s*\n\s*/g, " ")
    .trim()
    .replace(/\p{Cc}/gu, "·");
}
