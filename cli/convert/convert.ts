import type { Document, Node } from "yaml";
import type { Note } from "#core/conversion/draft.ts";
import { type Upgraded, upgrade } from "#core/conversion/upgrade/upgrade.ts";
import { GROUP_OF } from "#core/conversion/versions.ts";
import { type JsonObject, type Path, textAt } from "#core/lib/json.ts";
import { findings, outdated } from "./check.ts";
import { type Remark, remarksOf } from "./comments.ts";
import { type ManifestItem, nodeAt, readDocuments, type SourceDocument, type SourceFile } from "./input.ts";
import { placeOf, render, textOf } from "./render.ts";

/** Files with v1 manifests in place of older ones, and what a person has to decide. */
export interface Conversion {
  readonly files: readonly { readonly relativeName: string; readonly text: string }[];
  /** A sentence for each thing that is left to a person, with its file and line. */
  readonly messages: readonly string[];
  /** Whether the API server would accept every object of Karpenter's. */
  readonly isValid: boolean;
}

/** An object of the input with its document, and what it was upgraded to. */
interface Given extends ManifestItem {
  readonly source: SourceDocument;
  readonly upgraded: readonly Upgraded[] | undefined;
}

/**
 * Converts all files together, because settings move between objects. What needs no conversion is returned unchanged.
 * Throws InputError.
 */
export function convert(sources: readonly SourceFile[]): Conversion {
  const documents = sources.map(readDocuments);
  const items = documents.flat().flatMap((source) => source.items.map((item) => ({ ...item, source })));
  const upgraded = upgrade(items.map(({ object }) => object));
  const given = items.map((item, i): Given => ({ ...item, upgraded: upgraded[i] }));
  const report = new Report();
  const remarks = new Map(given.flatMap(({ source, at }, i) => remarksFor(source, at, i)));
  const placed = new Set<string>();
  const written = new Map(given.map((item, i) => [item, documentsOf(item, { remarks, placed, report, input: i })]));
  // Which comments have no place is known only after everything is written.
  for (const [i, item] of given.entries()) keepLostComments(written.get(item)?.[0], lostComments(remarks.get(i), i, placed));
  const files = documents.map((list, i) => ({
    relativeName: sources[i]?.relativeName ?? "",
    text: list.map((source) => documentText(source, given, written)).join(""),
  }));
  return { files, messages: report.messages, isValid: report.isValid };
}

class Report {
  readonly messages: string[] = [];
  isValid = true;

  add({ source: { file, unmask }, line }: Given, object: JsonObject, { level, text }: Pick<Note, "level" | "text">): void {
    if (level === "invalid") this.isValid = false;
    const name = textAt(object, ["metadata", "name"]);
    const about = [textAt(object, ["kind"]), name].filter((part) => part !== undefined).join(" ");
    const verdict = level === "invalid" ? " is not usable" : "";
    if (level !== "info") this.messages.push(unmask(`${file.name}, line ${line} (${about})${verdict}: ${text}`));
  }
}

type Remarks = ReadonlyMap<number, ReadonlyMap<string, Remark>>;

function remarksFor({ document }: SourceDocument, at: Path, i: number): readonly (readonly [number, ReadonlyMap<string, Remark>])[] {
  const node = document && nodeAt(document, at);
  return document && node ? [[i, remarksOf(node, document)]] : [];
}

type Written = ReadonlyMap<Given, readonly Document<Node>[]>;

function documentText(source: SourceDocument, all: readonly Given[], written: Written): string {
  const given = all.filter((item) => item.source === source);
  if (given.every(({ upgraded }) => upgraded === undefined)) return source.text;
  const texts = given.flatMap((item) => written.get(item) ?? []).map((document) => textOf(document, source.text));
  const joined = texts.map((text) => `---\n${text.replace(/^---\n/, "")}`).join("");
  const unmasked = source.unmask(source.text.startsWith("---") ? joined : joined.replace(/^---\n/, ""));
  return source.text.includes("\r\n") ? unmasked.replaceAll(/\r?\n/g, "\r\n") : unmasked;
}

/**
 * Judges an object that stays as it is: Karpenter's own must be valid, and others should not use names that no longer
 * exist.
 */
function judge(item: Given, report: Report): void {
  const { object } = item;
  const kind = textAt(object, ["kind"]) ?? "";
  if (Object.hasOwn(GROUP_OF, kind)) for (const note of findings(object)) report.add(item, object, note);
  else for (const text of outdated(object)) report.add(item, object, { level: "act", text });
}

interface Writing {
  readonly remarks: Remarks;
  readonly placed: Set<string>;
  readonly report: Report;
  readonly input: number;
}

function documentsOf(item: Given, { remarks, placed, report, input }: Writing): readonly Document<Node>[] {
  const { source, upgraded, object: old } = item;
  if (upgraded === undefined) judge(item, report);
  const keepsStyle = !source.text.trimStart().startsWith("{");
  const results = upgraded ?? [{ object: old, origins: [{ to: [], input, from: [] }], notes: [] }];
  return results.map(({ object, origins, notes }) => {
    const all = upgraded === undefined ? notes : [...notes, ...findings(object)];
    for (const note of all) report.add(item, object, note);
    return render({ object, origins, notes: all, remarks, keepsStyle, placed });
  });
}

function keepLostComments(document: Document<Node> | undefined, lost: readonly string[]): void {
  if (!document?.contents || lost.length === 0) return;
  document.contents.commentBefore = [document.contents.commentBefore, ...lost].filter((line) => typeof line === "string").join("\n");
}

/** Comments of fields that have no successor; the head of the document keeps them, each with the name of its field. */
function lostComments(remarks: ReadonlyMap<string, Remark> | undefined, input: number, placed: ReadonlySet<string>): readonly string[] {
  return [...(remarks ?? [])].flatMap(([key, { before, behind }]) => {
    const path = JSON.parse(key) as Path;
    if (placed.has(placeOf(input, path))) return [];
    const lines = [before, behind].filter((text) => text !== undefined).flatMap((text) => text.split("\n"));
    return lines.filter((line) => line.trim() !== "").map((line) => ` ${path.join(".")}:${line}`);
  });
}
