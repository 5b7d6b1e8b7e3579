import { contentHash } from "../lib/fnv.ts";
import { ownValue } from "../lib/own-value.ts";
import { INSTANCE_TYPE, REGISTERED } from "../model/labels.ts";
import type { Node } from "../model/node.ts";
import type { NodeClaim } from "../model/node-claim.ts";
import type { EC2NodeClass } from "../model/node-class.ts";
import { parseQuantity } from "../model/quantity.ts";

/**
 * Memory that nodes reported replaces the estimate. It is kept in an annotation of the EC2NodeClass, which every
 * decision has read already and `kubectl` shows. Karpenter keeps it in memory
 * (karpenter-provider-aws: pkg/cache/cache.go, DiscoveredCapacityCacheTTL).
 */
export const SEEN_MEMORY = "karpenter-serverless/seen-memory";

/** How long an amount holds after it was last seen, in days; Karpenter's DiscoveredCapacityCacheTTL. */
const MAX_SEEN_AGE_DAYS = 60;
const DAY_MS = 24 * 60 * 60_000;

interface Seen {
  /** As the kubelet reports it, "7910184Ki". */
  readonly memory: string;
  /** When it was last seen, in days since the epoch. */
  readonly day: number;
}

/** The annotation's content. Other images may leave other amounts, so it holds only for the images that it names. */
interface Note {
  readonly images: string;
  readonly types: Readonly<Record<string, Seen>>;
}

type NotedClass = Pick<EC2NodeClass, "status"> & Partial<Pick<EC2NodeClass, "metadata">>;

/** The format that kubelets write. */
const PLAIN = /^\d+(Ki|Mi)$/;

const NOTHING: Readonly<Record<string, Seen>> = {};

/** Memory of the NodeClass's nodes, as quantities by instance type. */
export function seenMemory(nodeClass: NotedClass): ReadonlyMap<string, string> {
  return new Map(Object.entries(notedTypes(nodeClass)).map(([type, { memory }]) => [type, memory]));
}

interface Observation {
  readonly nodes: readonly Node[];
  readonly nodeClaims: readonly NodeClaim[];
  /** Estimated memory of a type, MiB; undefined for an unknown type. */
  readonly guessMib: (instanceType: string) => number | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * The annotation from the NodeClass's registered nodes of current images: the smallest amount seen of each type. An
 * amount equal to the estimate is not stored. Returns the present text when nothing has changed, undefined for an empty
 * annotation.
 */
export function observeMemory(nodeClass: EC2NodeClass, { nodes, nodeClaims, guessMib, now }: Observation): string | undefined {
  const today = Math.floor(now / DAY_MS);
  const types: Record<string, Seen> = Object.fromEntries(
    Object.entries(notedTypes(nodeClass)).filter(([, { day }]) => today - day < MAX_SEEN_AGE_DAYS),
  );
  for (const [type, memory] of reportedBy(nodeClass, nodes, nodeClaims)) {
    const before = ownValue(types, type);
    const bytes = parseQuantity(memory);
    const known = before === undefined ? (guessMib(type) ?? 0) * 1024 * 1024 * 1000 : parseQuantity(before.memory);
    if (before === undefined ? bytes !== known : bytes <= known) types[type] = { memory, day: today };
  }
  const sorted = Object.entries(types).sort(([a], [b]) => (a < b ? -1 : 1));
  const note: Note = { images: imagesOf(nodeClass), types: Object.fromEntries(sorted) };
  return sorted.length === 0 ? undefined : JSON.stringify(note);
}

/** Types and memory of registered nodes that run a current image of the NodeClass. */
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

/** The amounts that hold for the NodeClass's current images; empty when the annotation has another content. */
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
