import assert from "node:assert";
import { createHash } from "node:crypto";
import { html, Markup } from "./markup.ts";
import { pageScript } from "./script.ts";
import { STYLE } from "./style.ts";

/**
 * One file that asks for nothing: the policy allows this script and this style by their hashes and no connection at
 * all, so that even a string that slipped through unescaped could not run or send anything. `data` is compressed; a page
 * of pictures that are drawn already has none, and no script.
 */
export function pageDocument(title: string, body: Markup, data: Uint8Array | null, more = ""): string {
  const script = data && pageScript();
  const style = STYLE + more;
  const policy = [
    "default-src 'none'",
    `script-src ${script ? `'${hashOf(script)}'` : "'none'"}`,
    `style-src '${hashOf(style)}'`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content="${policy}" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="referrer" content="no-referrer" />
        <meta name="color-scheme" content="light dark" />
        <meta name="generator" content="plimsoll" />
        <title>${title}</title>
        ${exactly("<style>", style, "</style>")}
      </head>
      <body>
        ${body}
        ${data && exactly('<script type="application/gzip" id="data">', Buffer.from(data).toString("base64"), "</script>")}
        ${script && exactly('<script type="module">', script, "</script>")}
      </body>
    </html> `.text;
}

/** To the character, because the policy's hashes are over what stands between the tags. */
function exactly(open: string, text: string, close: string): Markup {
  assert(!/<\/(?:script|style)|<!--/i.test(text), "the text would end its own element");
  return new Markup(open + text + close);
}

function hashOf(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}
