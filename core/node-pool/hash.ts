import { fnv1, littleEndian, utf8 } from "../lib/fnv.ts";
import type { NodePool } from "../model/node-pool.ts";
import type { Taint } from "../model/taint.ts";

/** Karpenter's version of these hash rules; hashes of equal versions are comparable. */
export const NODE_POOL_HASH_VERSION_VALUE = "v3";

/**
 * Hash of the fields of a NodePool's template that nodes are created from and that are not requirements, as a decimal
 * number. It equals Karpenter's hash bit for bit, so that NodeClaims that Karpenter made do not drift here: FNV-1
 * (multiply, then xor) over the fields of a struct in the order in which Karpenter declares them. Zero values are left
 * out; present but empty lists are not (karpenter: pkg/apis/v1/nodepool.go, NodePool.Hash).
 */
export function nodePoolHash(pool: Pick<NodePool, "spec">): string {
  const { metadata, spec } = pool.spec.template;
  return struct("NodeClaimTemplate", [
    [
      "ObjectMeta",
      // Without labels and annotations, ObjectMeta is a zero value.
      metadata?.labels || metadata?.annotations
        ? struct("ObjectMeta", [
            ["Labels", metadata.labels && map(metadata.labels)],
            ["Annotations", metadata.annotations && map(metadata.annotations)],
          ])
        : undefined,
    ],
    [
      "Spec",
      struct("NodeClaimTemplateSpec", [
        ["Taints", spec.taints && taints(spec.taints)],
        ["StartupTaints", spec.startupTaints && taints(spec.startupTaints)],
        [
          "NodeClassRef",
          struct("NodeClassReference", [
            ["Kind", optional(spec.nodeClassRef.kind)],
            ["Name", optional(spec.nodeClassRef.name)],
            ["Group", optional(spec.nodeClassRef.group)],
          ]),
        ],
        [
          "TerminationGracePeriod",
          spec.terminationGracePeriod === undefined ? undefined : duration("Duration", spec.terminationGracePeriod),
        ],
        // A missing duration is a zero value too.
        ["ExpireAfter", spec.expireAfter === "Never" ? undefined : duration("NillableDuration", spec.expireAfter ?? "720h")],
      ]),
    ],
  ]).toString();
}

function string(value: string): bigint {
  return fnv1(utf8(value));
}

function optional(value: string | undefined): bigint | undefined {
  return value ? string(value) : undefined;
}

function ordered(a: bigint, b: bigint): bigint {
  return fnv1([...littleEndian(a), ...littleEndian(b)]);
}

function finish(a: bigint): bigint {
  return fnv1(littleEndian(a));
}

/** Each field is finished separately, so the order counts. */
function struct(type: string, fields: readonly (readonly [name: string, value: bigint | undefined])[]): bigint {
  let hash = string(type);
  for (const [name, value] of fields) {
    if (value === undefined) continue;
    hash = finish(hash ^ ordered(string(name), value));
  }
  return hash;
}

function map(entries: Readonly<Record<string, string>>): bigint {
  let hash = 0n;
  for (const [key, value] of Object.entries(entries)) hash ^= ordered(string(key), string(value));
  return finish(hash);
}

/** An unordered list; equal taints cancel out. */
function taints(list: readonly Taint[]): bigint {
  let hash = 0n;
  for (const taint of list) {
    hash ^= struct("Taint", [
      ["Key", optional(taint.key)],
      ["Value", optional(taint.value)],
      ["Effect", optional(taint.effect)],
    ]);
  }
  return hash;
}

const UNIT_NS: Readonly<Record<string, bigint>> = { h: 3_600_000_000_000n, m: 60_000_000_000n, s: 1_000_000_000n };

/** A Go duration. A zero counts behind a pointer (NillableDuration), not in a plain field. */
function duration(type: "Duration" | "NillableDuration", written: string): bigint {
  let ns = 0n;
  for (const [, amount = "0", unit = ""] of written.matchAll(/(\d+)([hms])/g)) ns += BigInt(amount) * (UNIT_NS[unit] ?? 0n);
  return struct(type, [["Duration", type === "Duration" && ns === 0n ? undefined : fnv1(littleEndian(ns))]]);
}
