import { anyTermHolds, type Json, type Labels, nameOf, type Report, valueAllowed } from "./judge-rules.ts";

/** The claims of a pod that exist. */
function volumeClaimsOf(scenario: Json, pod: Json): Json[] {
  return (pod.spec.volumes ?? []).flatMap((v: Json) => {
    const name = v.persistentVolumeClaim?.claimName ?? (v.ephemeral ? `${pod.metadata.name}-${v.name}` : undefined);
    const found = (scenario.persistentVolumeClaims ?? []).find(
      (c: Json) => c.metadata.name === name && c.metadata.namespace === pod.metadata.namespace,
    );
    return found ? [found] : [];
  });
}

/** Whether every volume of a pod can be used on a machine with these labels. */
export function volumesReach(scenario: Json, pod: Json, labels: Labels): boolean {
  return volumeClaimsOf(scenario, pod).every((claim) => {
    const volume = (scenario.persistentVolumes ?? []).find((v: Json) => v.metadata.name === claim.spec.volumeName);
    if (volume) {
      const terms = volume.spec.nodeAffinity?.required?.nodeSelectorTerms;
      return terms === undefined || anyTermHolds(terms, labels);
    }
    const storage = (scenario.storageClasses ?? []).find((s: Json) => s.metadata.name === claim.spec.storageClassName);
    const allowed = storage?.allowedTopologies ?? [];
    return (
      allowed.length === 0 ||
      allowed.some((a: Json) => a.matchLabelExpressions.every((e: Json) => valueAllowed("In", e.values, labels[e.key])))
    );
  });
}

/** Reports when a node would attach more volumes than its driver allows. */
export function checkVolumeLimit(scenario: Json, name: string, pods: Json[], added: Json[], report: Report): void {
  const drivers = (scenario.csiNodes ?? []).find((c: Json) => c.metadata.name === name)?.spec.drivers ?? [];
  const limit = drivers.find((d: Json) => d.name === "ebs.csi.aws.com")?.allocatable?.count;
  if (limit === undefined || added.every((pod) => volumeClaimsOf(scenario, pod).length === 0)) return;
  const attached = new Set(pods.flatMap((pod) => volumeClaimsOf(scenario, pod).map((c) => `${c.metadata.namespace}/${c.metadata.name}`)));
  if (attached.size > limit) report(`node ${name} would attach ${attached.size} volumes of ${limit}`, ...added.map(nameOf));
}

/** Whether a pod waits for its volumes rather than for a machine. */
export function hasVolumeTrouble(scenario: Json, pod: Json): boolean {
  const wanted = (pod.spec.volumes ?? []).filter((v: Json) => v.persistentVolumeClaim ?? v.ephemeral).length;
  const claims = volumeClaimsOf(scenario, pod);
  return (
    claims.length < wanted ||
    claims.some(({ metadata, spec, status }) => {
      if (metadata.deletionTimestamp || status?.phase === "Lost") return true;
      if (spec.volumeName) return !(scenario.persistentVolumes ?? []).some((v: Json) => v.metadata.name === spec.volumeName);
      const storage = (scenario.storageClasses ?? []).find((s: Json) => s.metadata.name === spec.storageClassName);
      return storage?.volumeBindingMode !== "WaitForFirstConsumer";
    })
  );
}
