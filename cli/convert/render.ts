import { Document, isCollection, isMap, isScalar, isSeq, type Node, stringify } from "yaml";
import { type Note, type Origin, originOf } from "#core/conversion/draft.ts";
import type { JsonObject, Path } from "#core/lib/json.ts";
import { wrap } from "#core/lib/wrap.ts";
import { keyOf, type Remark, writtenLike } from "./comments.ts";

/** An object to write, with the comments of the source fields: by the index of the input object, then by path. */
interface Rendering {
  readonly object: JsonObject;
  readonly origins: readonly Origin[];
  readonly notes: readonly Note[];
  readonly remarks: ReadonlyMap<number, ReadonlyMap<string, Remark>>;
  /** Whether lists and maps keep the style of the source, such as one line. */
  readonly keepsStyle: boolean;
  /** The source fields whose comments are placed already; `render` adds to it. */
  readonly placed: Set<string>;
}

/** The object as YAML with the comments of its sources, and its notes as comments that begin with "convert:". */
export function render(rendering: Rendering): Document<Node> {
  const document = new Document(rendering.object, { aliasDuplicateObjects: false }) as Document<Node>;
  dress(document.contents, undefined, [], rendering);
  for (const note of rendering.notes) addNote(document, note);
  return document;
}

/**
 * The text of a document between two lines of ---, in the style of its source: `[ a ]` or `[a]`, lists indented or not.
 */
export function textOf(document: Document<Node>, source: string): string {
  // `{{ x }}` is a placeholder, not a map.
  const flowCollectionPadding = /(?<![{[])[{[] \S/.test(source);
  const indentSeq = !/^( *)[^\s#-][^\n]*:\n\1- /m.test(source);
  return document.toString({ lineWidth: 0, flowCollectionPadding, indentSeq });
}

export const placeOf = (input: number, path: Path): string => `${input} ${keyOf(path)}`;

function dress(node: Node | null, key: Node | undefined, path: Path, rendering: Rendering): void {
  if (node === null) return;
  const origin = originOf(rendering.origins, path);
  const from = origin && [...origin.from, ...path.slice(origin.to.length)];
  const remark = origin && from && rendering.remarks.get(origin.input)?.get(keyOf(from));
  if (origin && from && remark) {
    const place = placeOf(origin.input, from);
    if (!rendering.placed.has(place)) comment(node, key, remark);
    rendering.placed.add(place);
    if (rendering.keepsStyle) restyle(node, key, remark);
  }
  if (isMap(node)) {
    for (const pair of node.items)
      if (isScalar(pair.key)) dress(pair.value as Node | null, pair.key, [...path, String(pair.key.value)], rendering);
  } else if (isSeq(node)) for (const [i, item] of node.items.entries()) dress(item as Node, undefined, [...path, i], rendering);
}

function comment(node: Node, key: Node | undefined, { before, behind, hasSpaceBefore, value }: Remark): void {
  const first = key ?? node;
  // A comment behind a scalar would stand below a list, so it moves above.
  const isSameKind = isCollection(node) === isCollection(value);
  const above = [before, isSameKind ? undefined : behind].filter((text) => text !== undefined);
  if (above.length > 0) first.commentBefore = above.join("\n");
  if (hasSpaceBefore) first.spaceBefore = true;
  if (behind !== undefined && isSameKind) node.comment = behind;
}

function restyle(node: Node, key: Node | undefined, remark: Remark): void {
  if (isScalar(node)) writtenLike(node, remark.value);
  if (isScalar(key)) writtenLike(key, remark.key);
  const isSameKind = (isMap(node) && isMap(remark.value)) || (isSeq(node) && isSeq(remark.value));
  if (isSameKind && isCollection(remark.value) && remark.value.flow) node.flow = true;
}

/** How wide the comments with notes are, in characters. */
const WIDTH = 110;

/** Adds the note above its field, or above the nearest parent that has a line of its own. */
function addNote(document: Document<Node>, { at, text, sample }: Note): void {
  const added = sample === undefined ? [] : stringify(sample).trimEnd().split("\n");
  const lines = [...wrap(`convert: ${text}${sample ? ":" : ""}`, WIDTH), ...added.map((line) => `  ${line}`)].map((line) => ` ${line}`);
  const target = nodeFor(document, at);
  target.commentBefore = [target.commentBefore, ...lines].filter((line) => line !== undefined && line !== null).join("\n");
}

function nodeFor(document: Document<Node>, at: Path): Node {
  let found: Node = document.contents as Node;
  let node: unknown = document.contents;
  for (const step of at) {
    if (!isCollection(node) || node.flow) break;
    const pair = isMap(node) ? node.items.find(({ key }) => isScalar(key) && key.value === step) : undefined;
    const next: unknown = pair ? pair.value : isSeq(node) ? node.items[Number(step)] : undefined;
    const marked: unknown = pair ? pair.key : next;
    if (marked === undefined) break;
    found = marked as Node;
    node = next;
  }
  return found;
}
