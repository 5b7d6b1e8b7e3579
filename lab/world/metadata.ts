// What the API server writes into the metadata of objects: names, generations, grace periods.

import type { ApiObject } from "#manifests/api-object.ts";
import type { Random } from "./random.ts";

/**
 * The grace period of a pod that sets none. A pod's deletionTimestamp is the request plus its grace period; other
 * objects have the time of the request.
 */
const POD_GRACE_SECONDS = 30;

/**
 * What a generated name keeps of its prefix
 * (kubernetes: apiserver/pkg/storage/names/generate.go, MaxGeneratedNameLength).
 */
const MAX_GENERATED_PREFIX = 58;
/**
 * How often the API server draws a name that is taken
 * (kubernetes: apiserver/pkg/registry/generic/registry/store.go, maxNameGenerationCreateAttempts).
 */
const MAX_NAMES_DRAWN = 8;

/** A name as the API server generates it. */
export function generatedName(metadata: ApiObject["metadata"], random: Random, isTaken: (name: string) => boolean): string {
  const prefix = ((metadata as { generateName?: string }).generateName ?? "").slice(0, MAX_GENERATED_PREFIX);
  const drawn = (): string => prefix + random.suffix(5);
  let name = drawn();
  for (let draws = 1; draws < MAX_NAMES_DRAWN && isTaken(name); draws++) name = drawn();
  return name;
}

/** Fields that no update can change, and the generation, which a changed spec increments. */
export function immutable(found: ApiObject, changed: boolean): Partial<ApiObject["metadata"]> {
  const { uid, creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds, generation = 0 } = found.metadata;
  return {
    ...(uid !== undefined && { uid }),
    ...(creationTimestamp !== undefined && { creationTimestamp }),
    ...(deletionTimestamp !== undefined && { deletionTimestamp }),
    ...(deletionGracePeriodSeconds !== undefined && { deletionGracePeriodSeconds }),
    generation: changed ? generation + 1 : generation,
  };
}

/**
 * A pod that is not bound, or has ended, has no grace period (kubernetes: pkg/registry/core/pod/strategy.go,
 * podStrategy.CheckGracefulDelete).
 */
export function podGrace(pod: ApiObject, asked: number | undefined): number {
  const spec = pod.spec as { nodeName?: string; terminationGracePeriodSeconds?: number } | undefined;
  const phase = (pod.status as { phase?: string } | undefined)?.phase;
  if (!spec?.nodeName || phase === "Succeeded" || phase === "Failed") return 0;
  return Math.max(0, asked ?? spec.terminationGracePeriodSeconds ?? POD_GRACE_SECONDS);
}

/**
 * A grace period as the API server adds it to the time of the request: in nanoseconds of 64 bits, so that more than 292
 * years wrap, and the deletionTimestamp may lie in the past
 * (kubernetes: staging/src/k8s.io/apiserver/pkg/registry/rest/delete.go, BeforeDelete).
 */
export function graceMs(seconds: number): number {
  return Number(BigInt.asIntN(64, BigInt(seconds) * 1_000_000_000n) / 1_000_000n);
}
