import { readFileSync, existsSync, readdirSync, writeFileSync } from "node:fs";
import { audit } from "/work/main/src/audit/audit.ts";
import { DEFAULTS } from "/work/main/src/audit/settings.ts";
import { execSync } from "node:child_process";
const rules: any[] = JSON.parse(execSync("node /work/main/dist/plimsoll.js rules --json").toString()).rules ?? JSON.parse(execSync("node /work/main/dist/plimsoll.js rules --json").toString());
const byPat = new Map<number, string[]>();
for (const r of rules) for (const p of r.patterns ?? []) byPat.set(p, [...(byPat.get(p) ?? []), r.code]);
const sets = process.argv.slice(2).length ? process.argv.slice(2) : readdirSync("/tmp").filter((d) => d.startsWith("blind-")).map((d) => d.slice(6));
const out: string[] = [];
for (const set of sets) {
  const base = `/tmp/blind-${set}`;
  if (!existsSync(`${base}/plants.jsonl`)) continue;
  let n = 0, found = 0, warn = 0, nodir = 0;
  const missed: string[] = [];
  for (const line of readFileSync(`${base}/plants.jsonl`, "utf8").split("\n")) {
    if (!line.trim()) continue;
    let d: any; try { d = JSON.parse(line); } catch { continue; }
    const pat = parseInt(String(d.pattern));
    const cand = [d.dir, d.dir && `${base}/${d.dir}`, ...[d.id, d.plant, d.name, d.key, d.tag && `${d.tag}`, String(pat).padStart(3, "0"), `p${String(pat).padStart(2, "0")}`].filter(Boolean).flatMap((x: any) => [`${base}/plants/${x}`, `${base}/p/${x}`, `${base}/work/${x}`, `${base}/plants/p${String(x).padStart(2, "0")}`, `${base}/plants/${String(x).padStart(3, "0")}`])].filter((x) => x && existsSync(x));
    let dir = cand[0] as string | undefined;
    const marks: [string, number, string?][] = [];
    if (d.file && d.line) marks.push([d.file, d.line, d.code]);
    if (d.path && d.line) marks.push([d.path, d.line, d.code]);
    for (const k of ["at", "locs", "defect", "lines", "marks", "also", "same_defect", "other"]) if (Array.isArray(d[k])) for (const m of d[k]) if (Array.isArray(m)) marks.push(m as any); else if (m && typeof m === "object" && m.line) marks.push([m.file ?? m.path, m.line, m.code]); else if (typeof m === "string" && /:\d+/.test(m)) marks.push([m.split(":")[0]!, parseInt(m.split(":")[1]!)]);
    if (typeof d.defect === "string") marks.push([d.defect.split(":")[0], parseInt(d.defect.split(":")[1])]);
    if (Array.isArray(d.places)) for (const m of d.places) marks.push([m.file, m.line, m.code]);
    if (!dir) { nodir++; continue; }
    let r; try { r = await audit([dir], dir, DEFAULTS); } catch (e) { console.log("ERR", dir, String(e)); continue; }
    n++;
    const want = byPat.get(pat) ?? [`PLM${String(pat).padStart(3, "0")}`];
    const hits = r.findings.filter((f) => want.includes(f.rule) && marks.some(([p, l]) => f.path.endsWith(String(p).replace(/^.*plants\/[^/]+\//, "")) && f.line - 6 <= l && l <= f.endLine + 6));
    if (hits.length) { found++; if (hits.some((h) => h.severity !== "note")) warn++; }
    else missed.push(`${set} ${pat} ${dir} ${marks[0]?.[0]}:${marks[0]?.[1]} ${d.code ?? marks[0]?.[2] ?? ""} | same rule: ${r.findings.filter((f) => want.includes(f.rule)).map((f) => `${f.path}:${f.line}`).slice(0, 3).join(" ")}`);
  }
  console.log(set, n, "found", found, "warn+", warn, "nodir", nodir);
  out.push(...missed);
}
writeFileSync("/tmp/blind-missed.txt", out.join("\n"));
