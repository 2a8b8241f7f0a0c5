import { byId, el } from "./dom.ts";
import { Flame } from "./flame.ts";
import { MakeUp } from "./makeup.ts";
import { readRecording } from "./recording.ts";
import { Timeline } from "./timeline.ts";

async function start(): Promise<void> {
  const recording = await readRecording(byId("data").textContent);
  if (recording.head.positions === 0) return;
  const makeUp = new MakeUp(recording);
  const flame = new Flame(recording);
  const show = (position: number): void => {
    makeUp.show(position);
    flame.show(position);
  };
  const first = recording.head.flags.find((flag) => flag.what === "peak")?.position ?? 0;
  const timeline = new Timeline(recording, first, show);
  show(first);
  // What the page's text says of a moment leads to it.
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-flag]") : null;
    const flag = link && recording.head.flags[Number(link.dataset["flag"])];
    if (!flag) return;
    timeline.select(flag.position);
    byId("timeline").scrollIntoView({ block: "center" });
  });
  document.documentElement.classList.add("ready");
}

start().catch((error: unknown) => {
  byId("trouble").replaceChildren(
    el(
      "p",
      { class: "trouble" },
      `The pictures could not be drawn: ${error instanceof Error ? error.message : String(error)}`,
    ),
  );
});
