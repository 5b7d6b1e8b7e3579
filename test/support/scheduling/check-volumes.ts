import { anyTermHolds, type Labels, nameOf, type RawJson, type Report, valueAllowed } from "./judge-rules.ts";

const HOSTNAME = "kubernetes.io/hostname";

/** The existing PersistentVolumeClaims of a pod. */
function volumeClaimsOf(scenario: RawJson, pod: RawJson): RawJson[] {
  return (pod.spec.volumes ?? []).flatMap((v: RawJson) => {
    const name = v.persistentVolumeClaim?.claimName ?? (v.ephemeral ? `${pod.metadata.name}-${v.name}` : undefined);
    const found = (scenario.persistentVolumeClaims ?? []).find(
      (c: RawJson) => c.metadata.name === name && c.metadata.namespace === pod.metadata.namespace,
    );
    return found ? [found] : [];
  });
}

/**
 * Whether every volume of a pod can be attached to a machine with these labels. A machine that does not exist yet has
 * no hostname; it may take the pod of a local volume, because that volume is gone with its host.
 */
export function volumesReach(scenario: RawJson, pod: RawJson, labels: Labels): boolean {
  return volumeClaimsOf(scenario, pod).every((claim) => {
    const volume = (scenario.persistentVolumes ?? []).find((v: RawJson) => v.metadata.name === claim.spec.volumeName);
    if (volume) {
      const terms = volume.spec.nodeAffinity?.required?.nodeSelectorTerms;
      const isGone = labels[HOSTNAME] === undefined && (volume.spec.local ?? volume.spec.hostPath) !== undefined;
      const kept = (term: RawJson): RawJson => ({
        ...term,
        matchExpressions: (term.matchExpressions ?? []).filter((e: RawJson) => !isGone || e.key !== HOSTNAME),
      });
      return terms === undefined || anyTermHolds(terms.map(kept), labels);
    }
    const storage = (scenario.storageClasses ?? []).find((s: RawJson) => s.metadata.name === claim.spec.storageClassName);
    const allowed = storage?.allowedTopologies ?? [];
    return (
      allowed.length === 0 ||
      allowed.some((a: RawJson) => a.matchLabelExpressions.every((e: RawJson) => valueAllowed("In", e.values, labels[e.key])))
    );
  });
}

/** The CSI driver that attaches the volume of a claim; EBS's driver has taken over the in-tree volumes of EBS. */
function driverOf(scenario: RawJson, claim: RawJson): string | undefined {
  const volume = (scenario.persistentVolumes ?? []).find((v: RawJson) => v.metadata.name === claim.spec.volumeName);
  const storage = (scenario.storageClasses ?? []).find((s: RawJson) => s.metadata.name === claim.spec.storageClassName);
  const inTree = volume === undefined ? storage?.provisioner === "kubernetes.io/aws-ebs" : volume.spec.awsElasticBlockStore !== undefined;
  if (inTree) return "ebs.csi.aws.com";
  return volume === undefined ? storage?.provisioner : volume.spec.csi?.driver;
}

/** Reports a node that would attach more volumes of a CSI driver than the driver allows. */
export function checkVolumeLimit(scenario: RawJson, name: string, pods: RawJson[], added: RawJson[], report: Report): void {
  const drivers = (scenario.csiNodes ?? []).find((c: RawJson) => c.metadata.name === name)?.spec.drivers ?? [];
  const attachedBy = (some: RawJson[], driver: string): Set<string> =>
    new Set(
      some
        .flatMap((pod) => volumeClaimsOf(scenario, pod))
        .filter((claim) => driverOf(scenario, claim) === driver)
        .map(({ metadata }) => `${metadata.namespace}/${metadata.name}`),
    );
  for (const { name: driver, allocatable } of drivers) {
    const limit = allocatable?.count;
    const users = added.filter((pod) => attachedBy([pod], driver).size > 0);
    const { size } = attachedBy(pods, driver);
    if (limit !== undefined && users.length > 0 && size > limit)
      report(`node ${name} would attach ${size} volumes of ${driver}, which allows ${limit}`, ...users.map(nameOf));
  }
}

/** Whether a pod waits for its volumes and not for a node. */
export function hasVolumeTrouble(scenario: RawJson, pod: RawJson): boolean {
  const wanted = (pod.spec.volumes ?? []).filter((v: RawJson) => v.persistentVolumeClaim ?? v.ephemeral).length;
  const claims = volumeClaimsOf(scenario, pod);
  return (
    claims.length < wanted ||
    claims.some(({ metadata, spec, status }) => {
      if (metadata.deletionTimestamp || status?.phase === "Lost") return true;
      if (spec.volumeName) return !(scenario.persistentVolumes ?? []).some((v: RawJson) => v.metadata.name === spec.volumeName);
      const storage = (scenario.storageClasses ?? []).find((s: RawJson) => s.metadata.name === spec.storageClassName);
      return storage?.volumeBindingMode !== "WaitForFirstConsumer";
    })
  );
}
