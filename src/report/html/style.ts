/**
 * Colours of kinds after Okabe and Ito's palette ("Color Universal Design", 2008), which stays apart under the common
 * colour blindnesses. The phases are greys: their names are written on them.
 */
export const STYLE = `
:root {
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
  --sans: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "DejaVu Sans", sans-serif;
  --page: #f6f7f9; --panel: #ffffff; --ink: #16202b; --soft: #5a6875; --grid: #dfe4ea; --edge: #d5dbe2;
  --reserved: #16202b; --alert: #b3261e; --good: #00664b; --mark: #fff3c4; --accent: #0072b2;
  --phase-0: #d3dae2; --phase-1: #e6eaee; --phase-2: #dde3e9; --phase-3: #c6cfd8;
  --k-weight: #0072b2; --k-adapter: #56b4e9; --k-optimizer-state: #e69f00; --k-gradient: #d55e00;
  --k-activation: #009e73; --k-temporary: #cc79a7; --k-workspace: #8d99a6; --k-input: #f0e442; --k-unknown: #b7c0c9;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #0f151b; --panel: #17202a; --ink: #e8edf2; --soft: #9aa8b5; --grid: #2a3642; --edge: #2b3744;
    --reserved: #e8edf2; --alert: #ff8a80; --good: #5fd3ae; --mark: #4d4214; --accent: #56b4e9;
    --phase-0: #33414f; --phase-1: #263340; --phase-2: #2d3a47; --phase-3: #3d4c5b;
    --k-weight: #2b8fd0; --k-workspace: #6f7c89; --k-unknown: #52606d;
  }
}
@media print { :root {
  --page: #fff; --panel: #fff; --ink: #000; --soft: #444; --grid: #ccc; --edge: #bbb; --reserved: #000;
  --alert: #b3261e; --good: #00664b;
} }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 15px/1.5 var(--sans); }
main, header, footer { max-width: 1280px; margin: 0 auto; padding: 0 20px; }
header { padding-top: 22px; }
.brand { color: var(--soft); font: 13px var(--mono); display: flex; gap: 14px; flex-wrap: wrap; justify-content: space-between; }
.brand b { color: var(--ink); }
h1 { font-size: 26px; line-height: 1.25; margin: 10px 0 4px; letter-spacing: -0.01em; overflow-wrap: anywhere; }
h1.bad { color: var(--alert); } h1.good { color: var(--good); }
h2 { font-size: 16px; margin: 0; }
h3 { font-size: 13px; margin: 18px 0 4px; color: var(--soft); font-weight: 600; }
.file { color: var(--soft); overflow-wrap: anywhere; margin: 0; }
code, .number, .mono, .where { font-family: var(--mono); font-size: 12.5px; font-variant-numeric: tabular-nums; }
.soft { color: var(--soft); } .bad { color: var(--alert); } .good { color: var(--good); }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 10px; margin: 18px 0 0; padding: 0; }
.tiles div { background: var(--panel); border: 1px solid var(--edge); border-radius: 8px; padding: 9px 13px; }
.tiles dt { color: var(--soft); font-size: 12.5px; } .tiles dd { margin: 0; font: 600 19px var(--mono); letter-spacing: -0.02em; }
.tiles dd small { display: block; font: 12px var(--sans); color: var(--soft); letter-spacing: 0; }
.findings { list-style: none; margin: 14px 0 0; padding: 0; display: grid; gap: 8px; }
.findings li { background: var(--panel); border: 1px solid var(--edge); border-left: 4px solid var(--soft); border-radius: 6px; padding: 9px 14px; }
.findings li.alarm { border-left-color: var(--alert); }
.findings li.fine { border-left-color: var(--good); }
.findings p { margin: 2px 0; overflow-wrap: anywhere; }
section { background: var(--panel); border: 1px solid var(--edge); border-radius: 8px; padding: 14px 16px 16px; margin: 16px 0; }
.head { display: flex; flex-wrap: wrap; gap: 8px 14px; align-items: center; margin-bottom: 8px; }
.head .push { margin-left: auto; display: flex; gap: 6px; flex-wrap: wrap; align-items: center; }
button, select, input[type="search"] { font: 13px var(--sans); color: var(--ink); background: var(--page); border: 1px solid var(--edge); border-radius: 6px; padding: 4px 10px; min-height: 29px; }
button { cursor: pointer; } button:hover:not(:disabled) { border-color: var(--soft); }
button:disabled, select:disabled { opacity: 0.5; cursor: default; }
button[aria-pressed="true"] { background: var(--ink); color: var(--panel); border-color: var(--ink); }
button.plain { border: 0; background: none; color: var(--accent); padding: 0; min-height: 0; text-align: left; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
label[hidden] { display: none; }
label:not([hidden]) { font-size: 13px; color: var(--soft); display: inline-flex; gap: 5px; align-items: center; }
#legend { list-style: none; padding-bottom: 4px; display: flex; flex-wrap: wrap; gap: 2px 14px; margin: 0 0 8px; padding: 0; font-size: 12.5px; color: var(--soft); }
.swatch { display: inline-block; width: 11px; height: 11px; border-radius: 2px; margin-right: 6px; background: var(--soft); }
.swatch.line { height: 0; border-top: 2px dashed var(--reserved); background: none; vertical-align: middle; width: 18px; border-radius: 0; }
.chart { position: relative; }
canvas { display: block; width: 100%; touch-action: pan-y; }
#timeline { height: 340px; cursor: crosshair; } #timeline.dragging { cursor: grabbing; }
#overview { height: 46px; cursor: ew-resize; touch-action: none; }
.whole { overflow: hidden; margin-top: 4px; } #window { position: absolute; top: 0; bottom: 0; border: 1px solid var(--ink); pointer-events: none; box-shadow: 0 0 0 9999px color-mix(in srgb, var(--panel) 72%, transparent); }
#tip { position: absolute; pointer-events: none; background: var(--panel); border: 1px solid var(--soft); border-radius: 6px; padding: 7px 10px; font-size: 12.5px; max-width: 420px; box-shadow: 0 4px 14px rgb(0 0 0 / 0.18); z-index: 2; }
#tip[hidden] { display: none; } #tip td { padding: 0 14px 0 0; border: 0; } #tip .where { overflow-wrap: anywhere; }
.keys { color: var(--soft); font-size: 12.5px; margin: 6px 0 0; } kbd { font: 11.5px var(--mono); border: 1px solid var(--edge); border-radius: 4px; padding: 0 4px; background: var(--page); }
td:first-child, th:first-child { width: 100%; } #tip td:first-child { width: auto; }
.mark { width: 16px; height: 16px; vertical-align: -3px; margin-right: 4px; fill: none; stroke: var(--accent); stroke-width: 2.4; }
.box.mixed { background: var(--phase-3); color: var(--ink); }
table { border-collapse: collapse; width: 100%; }
th { text-align: left; font-weight: 600; font-size: 12.5px; color: var(--soft); padding: 3px 0; border-bottom: 1px solid var(--edge); }
td { padding: 4px 0; border-bottom: 1px solid var(--grid); vertical-align: top; }
td.number, th.number { text-align: right; white-space: nowrap; padding-left: 16px; }
.what { font-size: 13px; overflow-wrap: anywhere; } .scroll { overflow-x: auto; padding-bottom: 1px; }
.track { height: 5px; background: var(--grid); border-radius: 3px; margin: 3px 0 2px; overflow: hidden; }
.fill { display: block; height: 100%; background: var(--soft); min-width: 1px; }
svg.bar { display: block; width: 100%; height: 7px; margin-top: 4px; border-radius: 3px; background: var(--grid); }
svg.bar rect { fill: var(--accent); }
#flame { position: relative; overflow: hidden; min-height: 20px; }
.box { position: absolute; height: 19px; line-height: 19px; font: 11px/19px var(--mono); color: #0b1218; background: var(--k-unknown); padding: 0 4px; overflow: hidden; white-space: nowrap; text-overflow: ellipsis; border-radius: 2px; cursor: pointer; }
.box:hover, .box:focus-visible { filter: brightness(1.18); outline: 2px solid var(--ink); outline-offset: -2px; }
.box.k-weight { color: #fff; }
@media (prefers-color-scheme: dark) { .box.k-weight { color: #0b1218; } }
.box.above { opacity: 0.6; } .box.faint { opacity: 0.28; } .box.match { outline: 2px solid var(--ink); outline-offset: -2px; }
#flame-detail { min-height: 3.1em; font-size: 13px; margin: 8px 0 0; overflow-wrap: anywhere; }
#flame-found { font: 12.5px var(--mono); min-width: 11ch; }
.two { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: 0 16px; align-items: start; } .two > section { margin-bottom: 0; }
.notes li { margin: 2px 0; } .notes { padding-left: 18px; margin: 6px 0; color: var(--soft); font-size: 13.5px; }
footer { color: var(--soft); font-size: 13px; padding-bottom: 30px; }
.trouble { color: var(--alert); font-weight: 600; }
@media (max-width: 820px) { .two { grid-template-columns: 1fr; } h1 { font-size: 21px; } #timeline { height: 280px; } main, header, footer { padding: 0 10px; } section { padding: 10px; } }
@media print { .controls, .keys, .whole, #tip { display: none !important; } section { break-inside: avoid; border-color: #999; } body { font-size: 12px; print-color-adjust: exact; -webkit-print-color-adjust: exact; } }
@media (prefers-reduced-motion: no-preference) { .box { transition: opacity 0.12s; } }
${[
  "weight",
  "adapter",
  "optimizer-state",
  "gradient",
  "activation",
  "temporary",
  "workspace",
  "input",
  "unknown",
]
  .map(
    (kind) => `.k-${kind} { background: var(--k-${kind}); } svg.bar .k-${kind} { fill: var(--k-${kind}); }`,
  )
  .join("\n")}
`;
