import type { Random } from "#lab/world/random.ts";
import type { ApiObject } from "#manifests/api-object.ts";
import { TENANT, VICTIM_ID } from "./fields.ts";

/** The label of the nodes of ordinary pods, which ordinary pods select. */
export const ORDINARY = { team: "ordinary" };

type Terms = readonly { readonly topologyKey: string; readonly namespaceSelector?: object }[];
interface PodSpec {
  readonly nodeSelector: Readonly<Record<string, string>>;
  readonly affinity?: { readonly podAntiAffinity?: { readonly requiredDuringSchedulingIgnoredDuringExecution: Terms } };
}

/**
 * The object as one that shares the nodes of ordinary pods, most of the time: a pod that selects them, a node that says
 * it is the machine of one of them. Others stay what they are; a DaemonSet, too, because its pods lawfully make each
 * node larger, or, where no machine holds them, impossible.
 */
export function shared(object: ApiObject, random: Random): ApiObject {
  if (random.next() < 0.3) return object;
  const { kind, spec, metadata } = object;
  if (kind === "Pod") return { ...object, spec: sharedSpec(spec as PodSpec) };
  if (kind === "PodTemplate") {
    const template = object["template"] as { readonly spec: PodSpec };
    return { ...object, template: { ...template, spec: sharedSpec(template.spec) } };
  }
  if (kind !== "Node") return object;
  const labels = random.pick<object>([TENANT, ORDINARY, { ...ORDINARY, "karpenter.sh/nodepool": "default" }]);
  return {
    ...object,
    metadata: { ...metadata, labels: { ...metadata.labels, ...labels } },
    spec: { ...(spec as object), providerID: VICTIM_ID },
  };
}

/** A pod may keep others lawfully off its node, but none of these keeps ordinary pods off a zone or an architecture. */
function sharedSpec({ nodeSelector: { tenant: _, ...nodeSelector }, affinity, ...spec }: PodSpec): object {
  const { podAntiAffinity, ...rest } = affinity ?? {};
  const terms = podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution.map(({ namespaceSelector, ...term }) =>
    term.topologyKey === "kubernetes.io/hostname" && namespaceSelector !== undefined ? { ...term, namespaceSelector } : term,
  );
  return {
    ...spec,
    nodeSelector: { ...nodeSelector, ...ORDINARY },
    ...(affinity && {
      affinity: { ...rest, ...(terms && { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } }) },
    }),
  };
}
