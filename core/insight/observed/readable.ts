import { isJsonObject, type Json, type JsonObject } from "../../lib/json.ts";
import { ownValue } from "../../lib/own-value.ts";
import type { KubernetesObject, ResourceList } from "../../model/kubernetes.ts";
import type { Pod } from "../../model/pod.ts";
import { podRequests } from "../../model/pod-requests.ts";
import { parseResources } from "../../model/quantity.ts";
import { TRACED_KINDS, type TracedKind, type TraceEntry } from "./trace.ts";

/** Kinds of which nothing can be said without a spec. */
const WITH_SPEC: ReadonlySet<TracedKind> = new Set(["Pod", "Node", "NodePool", "DaemonSet", "ReplicaSet", "StatefulSet"]);

const WITH_TEMPLATE: ReadonlySet<TracedKind> = new Set(["DaemonSet", "ReplicaSet", "StatefulSet", "NodePool"]);

/** An entry without the objects that cannot be read, and why each is left out. Throws Error for no entry at all. */
export function readableEntry(value: unknown): { readonly entry: TraceEntry; readonly leftOut: readonly string[] } {
  if (!isJsonObject(value as Json) || !Number.isFinite((value as TraceEntry).at)) throw new Error("a line has no time `at`, in ms");
  const { at, put = {}, gone = [] } = value as unknown as TraceEntry;
  const leftOut: string[] = [];
  const kept: Partial<Record<TracedKind, readonly KubernetesObject[]>> = {};
  for (const kind of TRACED_KINDS) {
    const objects = ownValue(put as Readonly<Record<string, unknown>>, kind);
    if (!Array.isArray(objects)) continue;
    kept[kind] = (objects as readonly KubernetesObject[]).filter((object) => {
      const problem = problemOf(kind, object);
      if (problem !== undefined) leftOut.push(`${kind} ${object?.metadata?.name ?? "without a name"}: ${problem}`);
      return problem === undefined;
    });
  }
  return { entry: { at, put: kept, gone: Array.isArray(gone) ? gone.map(String) : [] }, leftOut };
}

function problemOf(kind: TracedKind, object: KubernetesObject): string | undefined {
  if (typeof object?.metadata?.name !== "string") return "it has no name";
  const { spec, status } = object as unknown as Readonly<Record<string, Json>>;
  if (WITH_SPEC.has(kind) && !isJsonObject(spec)) return "it has no spec";
  const template = isJsonObject(spec) ? spec["template"] : undefined;
  if (WITH_TEMPLATE.has(kind) && !(isJsonObject(template as Json) && isJsonObject((template as JsonObject)["spec"] as Json)))
    return "it has no template";
  try {
    if (kind === "Pod") podRequests(object as Pod);
    if (kind === "Node") parseResources((status as { readonly allocatable?: ResourceList } | undefined)?.allocatable);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
