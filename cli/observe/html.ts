import { INSTALLED } from "#settings/program.ts";
import { type Comparison, poolRows, type Row, rowsOf, title, verdict, worseText } from "./report.ts";

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

const STYLE = `:root{color-scheme:light dark;--line:#8884;--bad:#b3261e;--good:#1b7a3d}
@media (prefers-color-scheme:dark){:root{--bad:#ff8a80;--good:#7bd88f}}
body{font:16px/1.5 system-ui,sans-serif;max-width:52rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.3rem}table{border-collapse:collapse;width:100%;margin:1.5rem 0}
th,td{padding:.35rem .6rem;border-bottom:1px solid var(--line);text-align:right;font-variant-numeric:tabular-nums}
th:first-child,td:first-child{text-align:left}.more{color:var(--bad)}.less{color:var(--good)}
.worse{border-left:4px solid var(--bad);padding:.2rem 1rem}ul{font-size:.9rem;opacity:.85}
@media (max-width:30rem){body{margin:1rem auto}th,td{padding:.3rem .25rem;font-size:.9rem}}`;

/** The comparison as one HTML file without scripts and without other files, to send to a colleague. */
export function reportHtml(comparison: Comparison): string {
  const { autoscaler } = comparison.header;
  const cell = (text: string, tag = "td", kind = ""): string => `<${tag}${kind && ` class="${kind}"`}>${escaped(text)}</${tag}>`;
  const kindOf = (change: string): string => (change.startsWith("+") ? "more" : change.startsWith("−") ? "less" : "");
  const table = (first: string, rows: readonly Row[]): string =>
    [
      `<table><thead><tr>${[first, autoscaler, INSTALLED, ""].map((text) => cell(text, "th")).join("")}</tr></thead><tbody>`,
      ...rows.map(([what, ...cells]) => `<tr>${cell(what)}${cells.map((text) => cell(text, "td", kindOf(text))).join("")}</tr>`),
      "</tbody></table>",
    ].join("\n");
  const name = escaped(title(comparison));
  return [
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">`,
    `<title>${name}</title><style>${STYLE}</style></head><body>`,
    `<h1>${name}</h1><p>${escaped(verdict(comparison))}</p>`,
    table("", rowsOf(comparison)),
    table("NodePool", poolRows(comparison)),
    `<p class="worse">${escaped(worseText(comparison))}</p>`,
    `<ul>${comparison.assumed.map((sentence) => `<li>${escaped(sentence)}</li>`).join("")}</ul></body></html>`,
    "",
  ].join("\n");
}
