/** `convert_weights.py`, `export_onnx.py`, `merge_adapter.py` */
const PLACES = /(?:^|\/)(?:convert|export|merge)[^/]*\.py$/;

/** As what is started, and not imported. */
const PROGRAM = /^if __name__ ?==/m;

/** What trains, goes through batches, or has a network that somebody else may train. */
const MORE =
  /\.backward\(|zero_grad|DataLoader|\.step\(|\.fit\(|\bepochs?\b|Trainer\b|\boptim\.|Optimizer\(|\.train\(|\bclass \w+\([^)]*(?:Module|Dataset)\b/;

/**
 * A program that brings weights into another form: once, beside any training, so that nothing in it is worth a word. A tenth
 * of the source of transformers is such.
 */
export function isConversion(path: string, text: string): boolean {
  return PLACES.test(path) && PROGRAM.test(text) && !MORE.test(text);
}
