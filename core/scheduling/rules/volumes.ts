import { oncePer } from "../../lib/once-per.ts";
import { HOSTNAME } from "../../model/labels.ts";
import type { Pod } from "../../model/pod.ts";
import type { Snapshot } from "../../model/snapshot.ts";
import type { CSINode, PersistentVolume, PersistentVolumeClaim, StorageClass } from "../../model/workloads.ts";
import { compatible, intersectAll, type Requirements, requirementsFrom } from "../../requirements/requirements.ts";

const IN_TREE: Readonly<Record<string, string>> = { "kubernetes.io/aws-ebs": "ebs.csi.aws.com" };
const BIND_COMPLETED = "pv.kubernetes.io/bind-completed";

/** What a pod's volumes ask of a node. */
export interface PodVolumes {
  /** Requirement sets of which the node must meet one; empty when volumes do not bind the pod to a place. */
  readonly alternatives: readonly Requirements[];
  /** CSI driver to the claims ("namespace/name") that it attaches. */
  readonly claimsByDriver: ReadonlyMap<string, readonly string[]>;
}

const NO_VOLUMES: PodVolumes = { alternatives: [], claimsByDriver: new Map() };

/** Volume objects of a snapshot by name, and the questions that scheduling asks of them (scheduling.md §2, §3, §11). */
export class Volumes {
  readonly #claims: ReadonlyMap<string, PersistentVolumeClaim>;
  readonly #volumes: ReadonlyMap<string, PersistentVolume>;
  readonly #classes: ReadonlyMap<string, StorageClass>;
  readonly #csiNodes: ReadonlyMap<string, CSINode>;

  constructor(snapshot: Snapshot) {
    this.#claims = new Map(snapshot.persistentVolumeClaims.map((c) => [`${c.metadata.namespace ?? "default"}/${c.metadata.name}`, c]));
    this.#volumes = new Map(snapshot.persistentVolumes.map((v) => [v.metadata.name, v]));
    this.#classes = new Map(snapshot.storageClasses.map((c) => [c.metadata.name, c]));
    this.#csiNodes = new Map(snapshot.csiNodes.map((c) => [c.metadata.name, c]));
  }

  /** Why no node could help the pod yet, or undefined. */
  problem(pod: Pod): string | undefined {
    for (const name of claimNames(pod)) {
      const problem = this.#claimProblem(name);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }

  #claimProblem(name: string): string | undefined {
    const claim = this.#claims.get(name);
    if (claim === undefined) return `PersistentVolumeClaim ${name} does not exist; create it`;
    if (claim.metadata.deletionTimestamp) return `PersistentVolumeClaim ${name} is being deleted`;
    if (claim.status?.phase === "Lost") return `PersistentVolumeClaim ${name} has lost its volume; restore or recreate it`;
    const volumeName = claim.spec.volumeName ?? "";
    if (volumeName !== "") {
      if (claim.metadata.annotations?.[BIND_COMPLETED] === undefined) {
        return `PersistentVolumeClaim ${name} names volume ${volumeName} but is not bound yet (annotation ${BIND_COMPLETED} is missing)`;
      }
      const volume = this.#volumes.get(volumeName);
      if (volume === undefined) return `PersistentVolume ${volumeName} of claim ${name} does not exist`;
      return volume.metadata.deletionTimestamp ? `PersistentVolume ${volumeName} of claim ${name} is being deleted` : undefined;
    }
    const className = claim.spec.storageClassName ?? "";
    if (className === "") return `PersistentVolumeClaim ${name} is unbound and names no storage class; set storageClassName`;
    const storageClass = this.#classes.get(className);
    if (storageClass === undefined) return `StorageClass ${className} of PersistentVolumeClaim ${name} does not exist`;
    if (storageClass.volumeBindingMode !== "WaitForFirstConsumer") {
      return `PersistentVolumeClaim ${name} is unbound and StorageClass ${className} binds at once; wait for the volume, or use WaitForFirstConsumer`;
    }
    return undefined;
  }

  of(pod: Pod): PodVolumes {
    const names = claimNames(pod);
    if (names.length === 0) return NO_VOLUMES;
    const claimsByDriver = new Map<string, string[]>();
    let alternatives: Requirements[] = [];
    for (const name of names) {
      const claim = this.#claims.get(name);
      const volume = this.#volumes.get(claim?.spec.volumeName ?? "");
      const storageClass = this.#classes.get(claim?.spec.storageClassName ?? "");
      const driver = volume === undefined ? storageClass?.provisioner : driverOf(volume);
      if (driver !== undefined)
        claimsByDriver.set(IN_TREE[driver] ?? driver, [...(claimsByDriver.get(IN_TREE[driver] ?? driver) ?? []), name]);
      alternatives = cross(alternatives, volume === undefined ? classTerms(storageClass) : volumeTerms(volume));
    }
    return { alternatives, claimsByDriver };
  }

  /** CSI driver to how many volumes the node may attach; a driver that is missing has no limit. */
  limits(nodeName: string): ReadonlyMap<string, number> {
    const limits = new Map<string, number>();
    for (const { name, allocatable } of this.#csiNodes.get(nodeName)?.spec.drivers ?? []) {
      if (allocatable?.count !== undefined && allocatable.count !== null) limits.set(name, allocatable.count);
    }
    return limits;
  }
}

/** The volume objects of a snapshot; looked through once. */
export const volumesOf: (snapshot: Snapshot) => Volumes = oncePer((snapshot) => new Volumes(snapshot));

/** Claims of a pod as "namespace/name", those of its ephemeral volumes included; a pod that is going keeps its volumes attached. */
export function claimNames(pod: Pod): readonly string[] {
  const namespace = pod.metadata.namespace ?? "default";
  const names = new Set<string>();
  for (const volume of pod.spec.volumes ?? []) {
    if (volume.persistentVolumeClaim) names.add(`${namespace}/${volume.persistentVolumeClaim.claimName}`);
    else if (volume.ephemeral) names.add(`${namespace}/${pod.metadata.name}-${volume.name}`);
  }
  return [...names].sort();
}

function driverOf({ spec }: PersistentVolume): string | undefined {
  return spec.csi?.driver ?? (spec.awsElasticBlockStore ? "ebs.csi.aws.com" : undefined);
}

function volumeTerms({ spec }: PersistentVolume): readonly Requirements[] {
  const terms = spec.nodeAffinity?.required?.nodeSelectorTerms ?? [];
  // A local volume is tied to a node that will not come back; its other labels still say where a new one can be made.
  const isLocal = spec.local !== undefined || spec.hostPath !== undefined;
  return terms.map(({ matchExpressions }) =>
    requirementsFrom((matchExpressions ?? []).filter(({ key }) => !(isLocal && key === HOSTNAME))),
  );
}

function classTerms(storageClass: StorageClass | undefined): readonly Requirements[] {
  return (storageClass?.allowedTopologies ?? []).map(({ matchLabelExpressions }) =>
    requirementsFrom((matchLabelExpressions ?? []).map(({ key, values }) => ({ key, operator: "In", values }))),
  );
}

/** Every pair of alternatives that can hold together; all pairs when none can, so that the pod fails with a reason. */
function cross(left: readonly Requirements[], right: readonly Requirements[]): Requirements[] {
  if (left.length === 0) return [...right];
  if (right.length === 0) return [...left];
  const pairs = left.flatMap((a) => right.map((b) => ({ a, b })));
  const possible = pairs.filter(({ a, b }) => compatible(a, b, new Set([...a.keys(), ...b.keys()])));
  return (possible.length > 0 ? possible : pairs).map(({ a, b }) => intersectAll(a, b));
}
