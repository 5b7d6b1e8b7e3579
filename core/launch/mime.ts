/** MIME multipart documents as cloud-init reads them: LF only, boundary "//". */

export interface MimePart {
  /** As written after "Content-Type:". */
  readonly contentType: string;
  /** Other header lines, unchanged. */
  readonly headers?: readonly string[];
  readonly body: string;
}

export const SHELL_SCRIPT = 'text/x-shellscript; charset="us-ascii"';
export const NODE_CONFIG = "application/node.eks.aws";

const BOUNDARY = "//";

/** Whether user data is a MIME document and not a plain script. */
export function isMime(text: string): boolean {
  const start = text.trimStart();
  return start.startsWith("MIME-Version:") || start.startsWith("Content-Type:");
}

/** The parts in their order. Throws RangeError when the document names no boundary. */
export function parseMime(text: string): readonly MimePart[] {
  const lines = text.trimStart().replaceAll("\r\n", "\n").split("\n");
  const { fields, rest } = headersOf(lines);
  const contentType = fields.find(({ name }) => name === "content-type")?.value ?? "";
  const boundary = /boundary="?([^";]+)"?/i.exec(contentType)?.[1];
  if (boundary === undefined)
    throw new RangeError('userData is a MIME document without a boundary: add boundary="…" to its Content-Type line');
  const parts: string[][] = [];
  for (const line of rest) {
    if (line.trimEnd() === `--${boundary}--`) break;
    if (line.trimEnd() === `--${boundary}`) parts.push([]);
    else parts.at(-1)?.push(line);
  }
  return parts.map((part) => {
    const { fields: headers, rest: body } = headersOf(part);
    return {
      contentType: headers.find(({ name }) => name === "content-type")?.value ?? "text/plain",
      headers: headers.filter(({ name }) => name !== "content-type").map(({ line }) => line),
      body: body.join("\n").replace(/\n+$/, ""),
    };
  });
}

interface Header {
  readonly name: string;
  readonly value: string;
  readonly line: string;
}

/** Header lines (folded lines joined) up to the first blank line, and the rest. */
function headersOf(lines: readonly string[]): { readonly fields: readonly Header[]; readonly rest: readonly string[] } {
  const blank = lines.findIndex((line) => line.trim() === "");
  const end = blank < 0 ? lines.length : blank;
  const joined: string[] = [];
  for (const line of lines.slice(0, end)) {
    const last = joined.length - 1;
    if (/^\s/.test(line) && last >= 0) joined[last] = `${joined[last]} ${line.trim()}`;
    else joined.push(line);
  }
  const fields = joined.map((line) => {
    const colon = line.indexOf(":");
    return { name: line.slice(0, colon).trim().toLowerCase(), value: line.slice(colon + 1).trim(), line };
  });
  return { fields, rest: lines.slice(end + 1) };
}

/**
 * One multipart document. Equal parts give equal bytes, because each different text would need a new launch template.
 */
export function renderMime(parts: readonly MimePart[]): string {
  const rendered = parts.map(({ contentType, headers = [], body }) =>
    [`--${BOUNDARY}`, `Content-Type: ${contentType}`, ...headers, "", body, ""].join("\n"),
  );
  return `MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="${BOUNDARY}"\n\n${rendered.join("")}--${BOUNDARY}--\n`;
}
