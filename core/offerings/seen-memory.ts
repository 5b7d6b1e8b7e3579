import { contentHash } from "../lib/fnv.ts";
import { INSTANCE_TYPE, REGISTERED } from "../model/labels.ts";
import type { Node } from "../model/node.ts";
import type { NodeClaim } from "../model/node-claim.ts";
import type { EC2NodeClass } from "../model/node-class.ts";
import { parseQuantity } from "../model/quantity.ts";

/**
 * What nodes turned out to have of memory goes before what is guessed (instance-types.md §3). It stands in an annotation of the EC2NodeClass, so that
 * every decision has read it already and `kubectl` shows it.
 */
export const SEEN_MEMORY = "karpenter-serverless/seen-memory";

/** How long what was seen last holds, in days. */
const KEPT_DAYS = 60;
const DAY_MS = 24 * 60 * 60_000;

interface Seen {
  /** As the kubelet said it, "7910184Ki". */
  readonly memory: string;
  /** When it was seen last, in days since the epoch. */
  readonly day: number;
}

/** The annotation's content: other images may leave other amounts, so what was seen holds for these alone. */
interface Note {
  readonly images: string;
  readonly types: Readonly<Record<string, Seen>>;
}

type NotedClass = Pick<EC2NodeClass, "status"> & Partial<Pick<EC2NodeClass, "metadata">>;

/** As kubelets write it. */
const PLAIN = /^\d+(Ki|Mi)$/;

const NOTHING: Readonly<Record<string, Seen>> = {};

/** Memory of nodes of the class, as quantities by instance type. */
export function seenMemory(nodeClass: NotedClass): ReadonlyMap<string, string> {
  return new Map(Object.entries(notedTypes(nodeClass)).map(([type, { memory }]) => [type, memory]));
}

export interface Observation {
  readonly nodes: readonly Node[];
  readonly nodeClaims: readonly NodeClaim[];
  /** Memory that a type is taken to have, MiB; undefined for a type that is not known. */
  readonly guessMib: (instanceType: string) => number | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * The annotation as the class's registered nodes of current images make it: the least that was seen of each type. An amount that equals the guess needs no note.
 * The text that is there already when nothing has changed, undefined for none.
 */
export function observeMemory(nodeClass: EC2NodeClass, { nodes, nodeClaims, guessMib, now }: Observation): string | undefined {
  const today = Math.floor(now / DAY_MS);
  const types: Record<string, Seen> = Object.fromEntries(
    Object.entries(notedTypes(nodeClass)).filter(([, { day }]) => today - day < KEPT_DAYS),
  );
  for (const [type, memory] of reportedBy(nodeClass, nodes, nodeClaims)) {
    const before = types[type];
    const bytes = parseQuantity(memory);
    const known = before === undefined ? (guessMib(type) ?? 0) * 1024 * 1024 * 1000 : parseQuantity(before.memory);
    if (before === undefined ? bytes !== known : bytes <= known) types[type] = { memory, day: today };
  }
  const sorted = Object.entries(types).sort(([a], [b]) => (a < b ? -1 : 1));
  const note: Note = { images: imagesOf(nodeClass), types: Object.fromEntries(sorted) };
  return sorted.length === 0 ? undefined : JSON.stringify(note);
}

/** Types and memory of registered nodes that run an image which the class has now. */
function reportedBy(
  { metadata, status }: EC2NodeClass,
  nodes: readonly Node[],
  nodeClaims: readonly NodeClaim[],
): readonly (readonly [type: string, memory: string])[] {
  const current = new Set((status?.amis ?? []).map(({ id }) => id));
  const ours = new Set(
    nodeClaims
      .filter((claim) => claim.spec.nodeClassRef.name === metadata.name && current.has(claim.status?.imageID ?? ""))
      .flatMap((claim) => claim.status?.nodeName ?? []),
  );
  return nodes.flatMap(({ metadata: { name, labels = {} }, status: { capacity = {} } = {} }) => {
    const [type, memory] = [labels[INSTANCE_TYPE], capacity["memory"]];
    if (!ours.has(name) || labels[REGISTERED] !== "true" || type === undefined) return [];
    return typeof memory === "string" && PLAIN.test(memory) ? [[type, memory] as const] : [];
  });
}

/** What is noted about the class's present images; nothing when a person has written something else there. */
function notedTypes(nodeClass: NotedClass): Readonly<Record<string, Seen>> {
  const text = nodeClass.metadata?.annotations?.[SEEN_MEMORY];
  if (text === undefined) return NOTHING;
  try {
    const { images, types } = JSON.parse(text) as Partial<Note>;
    const isRight = ({ memory, day }: Seen): boolean => PLAIN.test(memory) && Number.isInteger(day);
    return images === imagesOf(nodeClass) && Object.values(types ?? {}).every(isRight) ? (types ?? NOTHING) : NOTHING;
  } catch {
    return NOTHING;
  }
}

function imagesOf({ status }: Pick<EC2NodeClass, "status">): string {
  return contentHash((status?.amis ?? []).map(({ id }) => id).sort());
}
