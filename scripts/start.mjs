// npm start: bootstraps what the program needs and shows it at work on a real example.
import { bootstrapNode } from "./bootstrap.mjs";
import { run, say, script } from "./process.mjs";

/** Each shown with its command line, as a user would type it. */
const SHOW = [
  "plan Qwen/Qwen2.5-7B --method lora --card 24GB",
  "inspect test/fixtures/snapshots/gpt2-leak.pickle.gz --top 5",
  "replay test/fixtures/snapshots/gpt2-expandable.pickle.gz --alloc-conf expandable_segments:False",
];

await script(() => {
  bootstrapNode();
  const codes = SHOW.map((line) => {
    say(`\n$ plimsoll ${line}`);
    return run(process.execPath, ["dist/plimsoll.js", ...line.split(" ")]);
  });
  // 1 is a finding, which is what the examples are there to show.
  return codes.some((code) => code > 1) ? 1 : 0;
});
