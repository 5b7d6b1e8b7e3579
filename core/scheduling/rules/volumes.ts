import { oncePer } from "../../lib/once-per.ts";
import { ownValue } from "../../lib/own-value.ts";
import { HOSTNAME, INSTANCE_TYPE } from "../../model/labels.ts";
import type { Pod } from "../../model/pod.ts";
import type { Snapshot } from "../../model/snapshot.ts";
import type { CSINode, PersistentVolume, PersistentVolumeClaim, StorageClass } from "../../model/workloads.ts";
import { compatible, intersectAll, type Requirements, requirementsFrom, serializeAll } from "../../requirements/requirements.ts";
import { unwritable } from "../../requirements/validation.ts";
import { isEmptyTerm } from "./preferences.ts";

const EBS_DRIVER = "ebs.csi.aws.com";

/** CSI drivers of in-tree volume plugins. */
const CSI_DRIVER_OF_IN_TREE: Readonly<Record<string, string>> = { "kubernetes.io/aws-ebs": EBS_DRIVER };
const BIND_COMPLETED = "pv.kubernetes.io/bind-completed";

/** A node whose volumes are limited. */
interface AttachingNode {
  readonly node: Pick<CSINode, "metadata"> | undefined;
  readonly nodePool: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
}

/** What a pod's volumes require of a node. */
export interface PodVolumes {
  /** Requirements of which the node must meet one; empty when the volumes can be used on every node. */
  readonly alternatives: readonly Requirements[];
  /** By CSI driver: the PersistentVolumeClaims ("namespace/name") that it attaches. */
  readonly claimsByDriver: ReadonlyMap<string, readonly string[]>;
}

/**
 * Alternatives of one pod's volumes. Each claim multiplies them with its own places, so that ten claims of ten places
 * each are more than any memory holds. No benchmark has tuned it.
 */
const MAX_ALTERNATIVES = 256;

const NO_VOLUMES: PodVolumes = { alternatives: [], claimsByDriver: new Map() };

/**
 * The volume objects of a snapshot: which pods have usable claims, where volumes can be used, and how many a node may
 * attach (karpenter: pkg/controllers/provisioning/scheduling/volumetopology.go, VolumeTopology.GetRequirements).
 */
export class Volumes {
  readonly #claims: ReadonlyMap<string, PersistentVolumeClaim>;
  readonly #volumes: ReadonlyMap<string, PersistentVolume>;
  readonly #classes: ReadonlyMap<string, StorageClass>;
  readonly #csiNodes: ReadonlyMap<string, CSINode>;
  readonly #instanceTypes: Snapshot["instanceTypes"];

  constructor(snapshot: Snapshot) {
    this.#claims = new Map(snapshot.persistentVolumeClaims.map((c) => [`${c.metadata.namespace ?? "default"}/${c.metadata.name}`, c]));
    this.#volumes = new Map(snapshot.persistentVolumes.map((v) => [v.metadata.name, v]));
    this.#classes = new Map(snapshot.storageClasses.map((c) => [c.metadata.name, c]));
    this.#csiNodes = new Map(snapshot.csiNodes.map((c) => [c.metadata.name, c]));
    this.#instanceTypes = snapshot.instanceTypes;
  }

  /** Why no node can help the pod now because of its claims; undefined when its claims are usable. */
  problem(pod: Pod): string | undefined {
    for (const name of claimNames(pod)) {
      const problem = this.#claimProblem(name) ?? this.#placeProblem(name);
      if (problem !== undefined) return problem;
    }
    if (this.of(pod).alternatives !== TOO_MANY) return undefined;
    return `its volumes can be used in more than ${MAX_ALTERNATIVES} combinations of places; name fewer places in allowedTopologies and nodeAffinity, or use fewer claims`;
  }

  /** Why no NodeClaim can ask for a place of the volume; undefined when it can. */
  #placeProblem(name: string): string | undefined {
    const claim = this.#claims.get(name);
    const volume = this.#volumes.get(claim?.spec.volumeName ?? "");
    const places = volume?.spec.nodeAffinity?.required?.nodeSelectorTerms ?? [];
    if (places.length > 0 && places.every(isEmptyTerm))
      return `the volume of PersistentVolumeClaim ${name} has empty terms alone in its node affinity, which no node meets; name its zone`;
    const terms =
      volume === undefined
        ? (this.#classes.get(claim?.spec.storageClassName ?? "")?.allowedTopologies ?? []).map(
            ({ matchLabelExpressions }) => matchLabelExpressions,
          )
        : places.filter((term) => !isEmptyTerm(term)).map(({ matchExpressions }) => matchExpressions);
    // No new node has the hostname that a volume names; the volume's reason says so.
    const problems = terms.map((items = []) =>
      items
        .filter(({ key }) => key !== HOSTNAME)
        .map(unwritable)
        .find(Boolean),
    );
    const [first] = problems;
    return first === undefined || problems.includes(undefined) ? undefined : `the volume of PersistentVolumeClaim ${name}: ${first}`;
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

  /** What a pod's volumes require of a node; nothing for a pod without claims. */
  of(pod: Pod): PodVolumes {
    const names = claimNames(pod);
    if (names.length === 0) return NO_VOLUMES;
    const claimsByDriver = new Map<string, string[]>();
    let alternatives: readonly Requirements[] = [];
    for (const name of names) {
      const claim = this.#claims.get(name);
      const volume = this.#volumes.get(claim?.spec.volumeName ?? "");
      const storageClass = this.#classes.get(claim?.spec.storageClassName ?? "");
      const driver = volume === undefined ? storageClass?.provisioner : driverOf(volume);
      if (driver !== undefined)
        claimsByDriver.set(ownValue(CSI_DRIVER_OF_IN_TREE, driver) ?? driver, [
          ...(claimsByDriver.get(ownValue(CSI_DRIVER_OF_IN_TREE, driver) ?? driver) ?? []),
          name,
        ]);
      if (alternatives !== TOO_MANY)
        alternatives = cross(alternatives, volume === undefined ? classTerms(storageClass) : volumeTerms(volume));
    }
    return { alternatives, claimsByDriver };
  }

  /**
   * By CSI driver: how many volumes the node may attach. A driver that is missing has no limit. Until the driver of EBS
   * runs on the node, the limit of the node's type holds.
   */
  limits({ node, nodePool, labels }: AttachingNode): ReadonlyMap<string, number> {
    const limits = new Map<string, number>();
    if (this.#claims.size === 0) return limits;
    for (const { name, allocatable } of this.#csiNodes.get(node?.metadata.name ?? "")?.spec.drivers ?? []) {
      if (allocatable?.count !== undefined && allocatable.count !== null) limits.set(name, allocatable.count);
    }
    if (limits.has(EBS_DRIVER)) return limits;
    const types = this.#instanceTypes.get(nodePool ?? "") ?? [];
    const limit = types.find(({ name }) => name === labels[INSTANCE_TYPE])?.volumeLimit;
    return limit === undefined ? limits : limits.set(EBS_DRIVER, limit);
  }

  /**
   * EBS volumes of each pod that only this pod uses. A volume that several pods use takes one place for all of them, so
   * it is left out.
   */
  ownEbsVolumes(pods: readonly Pod[]): ReadonlyMap<Pod, number> {
    const claims = new Map<Pod, readonly string[]>();
    for (const pod of pods) {
      const own = this.of(pod).claimsByDriver.get(EBS_DRIVER);
      if (own !== undefined) claims.set(pod, own);
    }
    const users = new Map<string, number>();
    for (const name of [...claims.values()].flat()) users.set(name, (users.get(name) ?? 0) + 1);
    return new Map([...claims].map(([pod, own]) => [pod, own.filter((name) => users.get(name) === 1).length]));
  }
}

/** The volume objects of a snapshot, read once for each snapshot. */
export const volumesOf: (snapshot: Snapshot) => Volumes = oncePer((snapshot) => new Volumes(snapshot));

/** Sorted claims of a pod as "namespace/name", with those of its ephemeral volumes. */
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
  return spec.csi?.driver ?? (spec.awsElasticBlockStore ? EBS_DRIVER : undefined);
}

function volumeTerms({ spec }: PersistentVolume): readonly Requirements[] {
  // No node meets an empty term.
  const terms = (spec.nodeAffinity?.required?.nodeSelectorTerms ?? []).filter((term) => !isEmptyTerm(term));
  // A local volume is bound to a node that will not return. Its other requirements still say where a new one can be
  // created.
  const isLocal = spec.local !== undefined || spec.hostPath !== undefined;
  return writable(terms.map(({ matchExpressions = [] }) => matchExpressions)).map((items) =>
    requirementsFrom(items.filter(({ key }) => !(isLocal && key === HOSTNAME))),
  );
}

function classTerms(storageClass: StorageClass | undefined): readonly Requirements[] {
  const terms = (storageClass?.allowedTopologies ?? []).map(({ matchLabelExpressions }) => matchLabelExpressions ?? []);
  return writable(terms).map((items) => requirementsFrom(items.map(({ key, values }) => ({ key, operator: "In", values }))));
}

interface Place {
  readonly key: string;
  readonly values?: readonly string[];
}

/** The places that a NodeClaim can ask for; all when it can ask for none, so that the pod fails with a reason. */
function writable<T extends Place>(terms: readonly (readonly T[])[]): readonly (readonly T[])[] {
  const possible = terms.filter((items) => items.every((item) => item.key === HOSTNAME || unwritable(item) === undefined));
  return possible.length > 0 ? possible : terms;
}

/** Means more than MAX_ALTERNATIVES: a place that no node is. */
const TOO_MANY: readonly Requirements[] = [requirementsFrom([{ key: HOSTNAME, operator: "In", values: [] }])];

/**
 * The compatible pairs of two lists of alternatives; all pairs when none is compatible, so that the pod fails with a
 * reason. An empty list allows everything. Equal alternatives count once; TOO_MANY when more than MAX_ALTERNATIVES are
 * left.
 */
function cross(left: readonly Requirements[], right: readonly Requirements[]): readonly Requirements[] {
  if (left.length === 0 || right.length === 0) return [...left, ...right];
  if (left.length + right.length > 2 * MAX_ALTERNATIVES) return TOO_MANY;
  const [possible, pairs] = [new Map<string, Requirements>(), new Map<string, Requirements>()];
  for (const a of left) {
    for (const b of right) {
      const both = intersectAll(a, b);
      const into = compatible(a, b, new Set([...a.keys(), ...b.keys()])) ? possible : pairs;
      if (into === pairs && possible.size + pairs.size > MAX_ALTERNATIVES) continue;
      into.set(JSON.stringify(serializeAll(both)), both);
      if (possible.size > MAX_ALTERNATIVES) return TOO_MANY;
    }
  }
  return [...(possible.size > 0 ? possible : pairs).values()];
}
