import { type Document, isAlias, isCollection, isMap, isNode, isPair, isScalar, isSeq, type Node, Scalar } from "yaml";
import type { Path } from "#core/lib/json.ts";

/** The comments of a field in a YAML document, with its nodes. */
export interface Remark {
  /** The lines above the field, each with its leading blank but without the #. */
  readonly before?: string;
  /** The comment behind the value on the same line; of a map or list, below its last item. */
  readonly behind?: string;
  readonly hasSpaceBefore: boolean;
  readonly key?: Node;
  readonly value?: Node;
}

export const keyOf = (path: Path): string => JSON.stringify(path);

/** All fields below a node with their comments, by `keyOf` their path. */
export function remarksOf(root: Node, document: Document): ReadonlyMap<string, Remark> {
  const remarks = new Map<string, Remark>();
  gather(root, [], {}, document, remarks);
  return remarks;
}

interface Above {
  readonly key?: Node;
  /** yaml keeps the comments above the first field of a map with the map; they belong to that first field. */
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

/** Writes a new scalar as the old one was written (quotes, number format), when both have the same value. */
export function writtenLike(scalar: Scalar, old: Node | undefined): void {
  if (isScalar(old) && old.value === scalar.value) {
    if (old.type !== undefined) scalar.type = old.type;
    if (old.format !== undefined) scalar.format = old.format;
  } else if (typeof scalar.value === "string" && /^(y|n|yes|no|on|off)$/i.test(scalar.value)) {
    // kubectl reads these words as true and false.
    scalar.type = Scalar.QUOTE_DOUBLE;
  }
}
