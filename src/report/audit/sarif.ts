import type { Log, Result } from "sarif";
import type { AuditReport, ReportedFinding } from "../../audit/report.ts";
import type { RulePage } from "./repair.ts";

const SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json";
/** GitHub's code scanning shows at most 5,000 results of a run and refuses above 25,000, or above 10 MB in gzip, which 5,000 do not reach. */
const MAX_RESULTS = 5000;

/** SARIF 2.1.0 within GitHub's limits: rules with their pages, regions, fixes and fingerprints. */
export function auditSarif(
  { findings, diagnostics }: AuditReport,
  rules: readonly RulePage[],
  version: string,
): string {
  const shown = [...findings].sort((a, b) => rank(a) - rank(b)).slice(0, MAX_RESULTS);
  const used = rules.filter(({ meta }) => shown.some(({ rule }) => rule === meta.code));
  const log: Log = {
    $schema: SCHEMA,
    version: "2.1.0",
    runs: [
      {
        tool: {
          driver: {
            name: "plimsoll",
            version,
            rules: used.map(({ meta, help }) => ({
              id: meta.code,
              name: meta.name,
              // Both are asked for.
              shortDescription: { text: meta.summary },
              fullDescription: { text: `${meta.summary}.` },
              help: { text: help, markdown: help },
              defaultConfiguration: { level: meta.severity },
              properties: { tags: ["performance", "memory"] },
            })),
          },
        },
        columnKind: "utf16CodeUnits",
        results: shown.map((finding) => result(finding, used)),
        invocations: [
          {
            executionSuccessful: true,
            toolExecutionNotifications: diagnostics.map(({ path, line, message, level }) => ({
              level,
              message: { text: message },
              locations: [
                {
                  physicalLocation: {
                    artifactLocation: { uri: uri(path) },
                    ...(line === null ? {} : { region: { startLine: line } }),
                  },
                },
              ],
            })),
          },
        ],
      },
    ],
  };
  return `${JSON.stringify(log, null, 2)}\n`;
}

function rank({ severity }: ReportedFinding): number {
  return severity === "error" ? 0 : severity === "warning" ? 1 : 2;
}

function result(finding: ReportedFinding, rules: readonly RulePage[]): Result {
  const { rule, severity, message, path, fix, fingerprint, cell } = finding;
  const location = { uri: uri(path) };
  // A notebook's cell lines mean nothing in its JSON: the cell is in the message. GitHub wants a line of every result.
  const region =
    cell === undefined
      ? {
          region: {
            startLine: finding.line,
            startColumn: finding.column,
            endLine: finding.endLine,
            endColumn: finding.endColumn,
          },
        }
      : { region: { startLine: 1 } };
  return {
    ruleId: rule,
    ruleIndex: rules.findIndex(({ meta }) => meta.code === rule),
    level: severity,
    message: { text: cell === undefined ? message : `cell ${cell}, line ${finding.line}: ${message}` },
    locations: [{ physicalLocation: { artifactLocation: location, ...region } }],
    partialFingerprints: { "plimsoll/v1": fingerprint },
    ...(fix && cell === undefined
      ? {
          fixes: [
            {
              description: { text: fix.title },
              artifactChanges: [
                {
                  artifactLocation: location,
                  replacements: fix.edits.map((edit) => ({
                    deletedRegion: {
                      startLine: edit.line,
                      startColumn: edit.column,
                      endLine: edit.endLine,
                      endColumn: edit.endColumn,
                    },
                    insertedContent: { text: edit.text },
                  })),
                },
              ],
            },
          ],
        }
      : {}),
  };
}

function uri(path: string): string {
  return path.split("/").map(encodeURIComponent).join("/");
}
