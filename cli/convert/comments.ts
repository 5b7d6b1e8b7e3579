import { type Document, isAlias, isCollection, isMap, isNode, isPair, isScalar, isSeq, type Node, Scalar } from "yaml";
import type { Path } from "../../core/lib/json.ts";

/** What a YAML document says about a field besides its value. */
export interface Remark {
  /** Lines above it, each with its leading blank but without the #. */
  readonly before?: string;
  /** Behind it on its line; of a map or list, below its last item. */
  readonly behind?: string;
  readonly hasSpaceBefore: boolean;
  readonly key?: Node;
  readonly value?: Node;
}

export const keyOf = (path: Path): string => JSON.stringify(path);

/** All fields of a node by their path, with what is said about them. */
export function remarksOf(root: Node, document: Document): ReadonlyMap<string, Remark> {
  const remarks = new Map<string, Remark>();
  gather(root, [], {}, document, remarks);
  return remarks;
}

interface Above {
  readonly key?: Node;
  /** Comments above the first field of a field's map are kept with the map: they are that first field's. */
  readonly before?: string | null | undefined;
}

function gather(given: unknown, path: Path, above: Above, document: Document, remarks: Map<string, Remark>): void {
  const node = isAlias(given) ? given.resolve(document) : given;
  if (!isNode(node)) return;
  const isFirstChilds = isCollection(node) && above.key !== undefined && !node.flow;
  const before = join(above.before, above.key?.commentBefore, isFirstChilds ? undefined : node.commentBefore);
  const behind = join(above.key?.comment, node.comment);
  remarks.set(keyOf(path), {
    ...(before !== undefined && { before }),
    ...(behind !== undefined && { behind }),
    hasSpaceBefore: (above.key ?? node).spaceBefore === true,
    ...(above.key && { key: above.key }),
    value: node,
  });
  const children: readonly (readonly [string | number, unknown, Node | undefined])[] = isMap(node)
    ? node.items.flatMap((pair) => (isPair(pair) && isScalar(pair.key) ? [[String(pair.key.value), pair.value, pair.key] as const] : []))
    : isSeq(node)
      ? node.items.map((item, i) => [i, item, undefined] as const)
      : [];
  for (const [i, [step, child, key]] of children.entries()) {
    const first = i === 0 && isFirstChilds ? node.commentBefore : undefined;
    gather(child, [...path, step], { ...(key && { key }), before: first }, document, remarks);
  }
}

function join(...parts: readonly (string | null | undefined)[]): string | undefined {
  const lines = parts.filter((part) => part !== undefined && part !== null);
  return lines.length > 0 ? lines.join("\n") : undefined;
}

/** Gives a new scalar the way in which the old one was written, when both say the same. */
export function writtenLike(scalar: Scalar, old: Node | undefined): void {
  if (isScalar(old) && old.value === scalar.value) {
    if (old.type !== undefined) scalar.type = old.type;
    if (old.format !== undefined) scalar.format = old.format;
  } else if (typeof scalar.value === "string" && /^(y|n|yes|no|on|off)$/i.test(scalar.value)) {
    // kubectl reads these as true and false.
    scalar.type = Scalar.QUOTE_DOUBLE;
  }
}
