import type { PersistentVolumeClaimSpec, Pod, Volume } from "#core/model/pod.ts";
import type { CSINode, PersistentVolume, PersistentVolumeClaim, StorageClass } from "#core/model/workloads.ts";
import { ZONES } from "./instance-types.ts";
import type { GeneratedMachine } from "./nodes.ts";
import type { Random } from "./random.ts";

const DRIVER = "ebs.csi.aws.com";
const topology = (...zones: string[]) => ({ matchLabelExpressions: [{ key: "topology.kubernetes.io/zone", values: zones }] });

export const STORAGE_CLASSES: readonly StorageClass[] = [
  { metadata: { name: "gp3" }, provisioner: DRIVER, volumeBindingMode: "WaitForFirstConsumer" },
  {
    metadata: { name: "gp3-zonal" },
    provisioner: DRIVER,
    volumeBindingMode: "WaitForFirstConsumer",
    allowedTopologies: [topology("us-west-2a", "us-west-2b")],
  },
  {
    metadata: { name: "gp3-terms" },
    provisioner: DRIVER,
    volumeBindingMode: "WaitForFirstConsumer",
    allowedTopologies: [topology("us-west-2c"), topology("us-west-2a")],
  },
  { metadata: { name: "gp3-at-once" }, provisioner: DRIVER, volumeBindingMode: "Immediate" },
].map(({ metadata, ...rest }) => ({
  apiVersion: "storage.k8s.io/v1",
  kind: "StorageClass",
  metadata: { ...metadata, uid: `uid-${metadata.name}` },
  ...rest,
}));

/** The storage objects of the volumes of pods, added pod by pod. */
export interface Storage {
  readonly persistentVolumeClaims: PersistentVolumeClaim[];
  readonly persistentVolumes: PersistentVolume[];
}

/** The storage of a workload: each pod has its own PersistentVolumeClaim, or all pods share one. */
export interface StorageHabit {
  readonly className: string;
  readonly bound: boolean;
  readonly shared: boolean;
  readonly ephemeral: boolean;
  readonly count: number;
}

export function storageHabit(random: Random): StorageHabit {
  const className = random.pick(["gp3", "gp3", "gp3", "gp3-zonal", "gp3-zonal", "gp3-terms", "gp3-at-once", "does-not-exist"]);
  const bound = className === "gp3-at-once" ? random.chance(0.9) : className === "gp3" && random.chance(0.5);
  return {
    className,
    bound,
    // Plans do not consider that the first pod decides the zone of a shared volume that does not exist yet.
    shared: random.chance(0.1) && bound,
    ephemeral: random.chance(0.15),
    count: random.chance(0.85) ? 1 : 2,
  };
}

/** Adds volumes to a pod. The volumes of a running pod are bound in the zone of its node. */
export function withVolumes(random: Random, storage: Storage, habit: StorageHabit, pod: Pod, app: string, machine?: GeneratedMachine): Pod {
  const { namespace = "default", name } = pod.metadata;
  const volumes = Array.from({ length: habit.count }, (_, i): Volume => {
    const volumeName = `data-${i}`;
    const claimName = habit.ephemeral ? `${name}-${volumeName}` : `data-${i}-${habit.shared ? app : name}`;
    const known = storage.persistentVolumeClaims.some(({ metadata }) => metadata.name === claimName && metadata.namespace === namespace);
    // A volume that several pods share keeps its first zone.
    if (!known) addClaim(random, storage, habit, claimName, namespace, machine, habit.ephemeral ? pod : undefined);
    return habit.ephemeral
      ? { name: volumeName, ephemeral: { volumeClaimTemplate: { spec: claimSpec(habit) } } }
      : { name: volumeName, persistentVolumeClaim: { claimName } };
  });
  return { ...pod, spec: { ...pod.spec, volumes } };
}

const claimSpec = (habit: StorageHabit) =>
  ({
    accessModes: [habit.shared ? "ReadWriteMany" : "ReadWriteOnce"],
    storageClassName: habit.className,
    resources: { requests: { storage: "10Gi" } },
  }) as PersistentVolumeClaimSpec;

function addClaim(
  random: Random,
  storage: Storage,
  habit: StorageHabit,
  name: string,
  namespace: string,
  machine?: GeneratedMachine,
  owner?: Pod,
) {
  if (machine === undefined && random.chance(0.02)) return; // the PersistentVolumeClaim is missing
  const bound = machine !== undefined || habit.bound;
  storage.persistentVolumeClaims.push({
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: {
      name,
      namespace,
      uid: `uid-${namespace}-${name}`,
      ...(bound ? { annotations: { "pv.kubernetes.io/bind-completed": "yes", "pv.kubernetes.io/bound-by-controller": "yes" } } : {}),
      ...(owner === undefined
        ? {}
        : {
            ownerReferences: [
              { apiVersion: "v1", kind: "Pod", name: owner.metadata.name, uid: owner.metadata.uid ?? "", controller: true },
            ],
          }),
    },
    spec: { ...claimSpec(habit), ...(bound ? { volumeName: `pv-${name}` } : {}) },
    status: { phase: bound ? "Bound" : random.chance(0.02) ? "Lost" : "Pending" },
  });
  if (!bound) return;
  const zone = machine?.zone ?? random.pick(ZONES);
  storage.persistentVolumes.push({
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: { name: `pv-${name}`, uid: `uid-pv-${name}` },
    spec: {
      capacity: { storage: "10Gi" },
      accessModes: ["ReadWriteOnce"],
      storageClassName: habit.className,
      csi: { driver: DRIVER, volumeHandle: `vol-${name}` },
      claimRef: { kind: "PersistentVolumeClaim", namespace, name, uid: `uid-${namespace}-${name}` },
      nodeAffinity: {
        required: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: "topology.kubernetes.io/zone", operator: "In", values: [zone] }] }],
        },
      },
    } as PersistentVolume["spec"],
  });
}

/** How many volumes each Node may attach; some Nodes have no CSI driver yet. */
export function csiNodes(random: Random, machines: readonly GeneratedMachine[]): CSINode[] {
  return machines.flatMap(({ node }) =>
    node === undefined || random.chance(0.15)
      ? []
      : [
          {
            apiVersion: "storage.k8s.io/v1",
            kind: "CSINode",
            metadata: { name: node.metadata.name, uid: `uid-csi-${node.metadata.name}` },
            spec: {
              drivers: [
                {
                  name: DRIVER,
                  nodeID: node.spec.providerID ?? "",
                  topologyKeys: ["topology.kubernetes.io/zone"],
                  allocatable: { count: random.chance(0.3) ? random.int(1, 3) : random.int(4, 25) },
                },
              ],
            },
          },
        ],
  );
}
