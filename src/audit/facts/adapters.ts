import { isTrue, keyword } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";

/** `PeftModel.from_pretrained(model, path)` freezes all that it loads, but for who asks for an adapter to train on. */
export function isAdapted(file: PythonFile): boolean {
  return file
    .callsNamed("from_pretrained")
    .some(
      (call) =>
        (file.dotted(call.func) ?? "").startsWith("peft.") &&
        !isTrue(keyword(call, "is_trainable")?.value ?? null),
    );
}
