import { readdirSync, statSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { type Document, isMap, isSeq, LineCounter, type Node, parseDocument } from "yaml";
import { isJsonObject, type JsonObject, type Path } from "#core/lib/json.ts";
import { documentValue, textProblem } from "#manifests/yaml.ts";
import { readText as readFile } from "#terminal/bounded-file.ts";
import { InputError } from "#terminal/input-error.ts";
import { type Masked, maskPlaceholders } from "./placeholders.ts";

/** A file with manifests. */
export interface SourceFile {
  /** As the user named it, for messages. */
  readonly name: string;
  /** Its path below the folder that was given; the name of the output file. */
  readonly relativeName: string;
  readonly text: string;
}

/** One document of a file: its text, and the objects in it when it may hold old ones. */
export interface SourceDocument {
  readonly file: SourceFile;
  readonly text: string;
  readonly items: readonly ManifestItem[];
  readonly document?: Document;
  readonly unmask: (text: string) => string;
}

/** An object of a document, or an item of a List. */
export interface ManifestItem {
  readonly object: JsonObject;
  readonly at: Path;
  /** The line of the file where it begins, from 1. */
  readonly line: number;
}

const MANIFEST = /\.(ya?ml|json)$/;

/** Reads files, all manifests of folders at any depth, and "-" for standard input. Throws InputError. */
export function readSources(paths: readonly string[]): readonly SourceFile[] {
  return paths.flatMap((path) => {
    if (path === "-") return [{ name: "standard input", relativeName: "stdin.yaml", text: readText(0) }];
    const stat = statSync(path, { throwIfNoEntry: false });
    if (!stat) throw new InputError(`there is no file or folder ${path}; give manifests, or - for standard input`);
    if (!stat.isDirectory()) return [{ name: path, relativeName: basename(path), text: readText(path) }];
    const names = readdirSync(path, { recursive: true, encoding: "utf8" }).sort();
    const files = names.map((name) => join(path, name)).filter((file) => MANIFEST.test(file) && statSync(file).isFile());
    if (files.length === 0)
      throw new InputError(`${path} holds no manifests; of a folder, files that end in .yaml, .yml or .json are read`);
    return files.map((file) => ({ name: file, relativeName: relative(path, file), text: readText(file) }));
  });
}

function readText(path: string | 0): string {
  try {
    return readFile(path);
  } catch (error) {
    throw new InputError(
      `cannot read ${path || "standard input"}: ${error instanceof Error ? error.message : String(error)}; see that it may be read`,
    );
  }
}

/**
 * The documents of a file. A document that names no API of Karpenter's is not parsed, because it need not be plain
 * YAML. Throws InputError.
 */
export function readDocuments(file: SourceFile): readonly SourceDocument[] {
  let line = 1;
  return file.text.split(/^(?=---(?:\s|$))/m).map((text) => {
    const first = line;
    line += text.split("\n").length - 1;
    return readDocument(file, text, first);
  });
}

/** Documents that are parsed: they name APIs or labels of Karpenter's, or its old settings. */
const KARPENTER = /karpenter\.(sh|k8s\.aws)|karpenter-global-settings/;
const OLD = /karpenter\.(sh|k8s\.aws)\/v1(alpha|beta)/;
/** A line of a Helm template, which is not YAML before it is rendered. */
const HELM_LINE = /^\s*(-\s*)?\{\{.*\}\}\s*$/;

function readDocument(file: SourceFile, text: string, firstLine: number): SourceDocument {
  const plain = { file, text, items: [], unmask: (same: string) => same };
  if (!KARPENTER.test(text)) return plain;
  const masked = maskPlaceholders(text);
  const parsed = parse(masked, text);
  if (!("problem" in parsed)) {
    const items = parsed.items.map((item) => ({ ...item, line: firstLine + item.line }));
    return { ...plain, document: parsed.document, items, unmask: masked.unmask };
  }
  // A document that needs no conversion may be unreadable; one with an old API may not.
  if (!OLD.test(text)) return plain;
  throw new InputError(`${file.name}, line ${firstLine + parsed.line}: ${parsed.problem}`);
}

interface Parsed {
  readonly document: Document;
  /** Lines from 0. */
  readonly items: readonly ManifestItem[];
}

function parse({ text, unmask }: Masked, source: string): Parsed | { readonly problem: string; readonly line: number } {
  const helm = source.split("\n").findIndex((line) => HELM_LINE.test(line));
  const render = "render it with `helm template` and convert its output";
  if (helm >= 0) return { problem: `this is a Helm template; ${render}, or convert its text by hand`, line: helm };
  const nested = textProblem(text);
  if (nested !== undefined)
    return { problem: `${nested.problem}; give manifests in YAML or JSON`, line: text.slice(0, nested.at).split("\n").length - 1 };
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, merge: true });
  const lineAt = (offset: number): number => Math.max(0, lines.linePos(offset).line - 1);
  const invalid = (message: string): string => `this is not valid YAML: ${unmask(message).replace(/\.$/, "")}; fix the line`;
  const [error] = document.errors;
  if (error) return { problem: invalid(error.message), line: lineAt(error.pos[0]) };
  const read = documentValue(document);
  if ("problem" in read) return { problem: invalid(read.problem), line: 0 };
  const items = itemsOf(read.value);
  return { document, items: items.map((item) => ({ ...item, line: lineAt(nodeAt(document, item.at)?.range?.[0] ?? 0) })) };
}

function itemsOf(value: unknown): readonly Omit<ManifestItem, "line">[] {
  if (!isJsonObject(value)) return [];
  const items = value["items"];
  if (!/List$/.test(String(value["kind"])) || !Array.isArray(items)) return [{ object: value as JsonObject, at: [] }];
  return items.flatMap((object: unknown, i) => (isJsonObject(object) ? [{ object: object as JsonObject, at: ["items", i] }] : []));
}

/** The YAML node of an item. */
export function nodeAt(document: Document, at: Path): Node | undefined {
  const node = at.length === 0 ? document.contents : document.getIn(at, true);
  return isMap(node) || isSeq(node) ? node : undefined;
}
