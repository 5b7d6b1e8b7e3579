import { ownValue } from "#core/lib/own-value.ts";
import type { Node } from "#core/model/node.ts";
import type { Pod } from "#core/model/pod.ts";
import type { CSINode, PersistentVolume, PersistentVolumeClaim, StorageClass } from "#core/model/workloads.ts";
import type { ApiObject } from "#manifests/api-object.ts";
import { classNameOf } from "../admission.ts";
import type { MutableObject } from "../store.ts";
import type { LabWorld } from "../world.ts";
import { debounced, isTerminal, podsOf } from "./actor.ts";
import { meetsTerm } from "./placement.ts";
import { freeVolume, reserveVolume } from "./static-volumes.ts";

const ZONE = "topology.kubernetes.io/zone";
const EBS = "ebs.csi.aws.com";
/** The provisioner of a class whose volumes an administrator makes. */
const NO_PROVISIONER = "kubernetes.io/no-provisioner";
const BINDER = "system:serviceaccount:kube-system:persistent-volume-binder";
/** From the end of the last pod to the end of the attachment, ms. */
const DETACH_MS = 3_000;

/** The volumes of a pod, as kube-scheduler asks about them. */
interface VolumeRule {
  /** Why the node cannot have the pod; undefined when it can. */
  refuses(node: Node): string | undefined;
  /** Binds the claims that wait for their first consumer. */
  bind(node: Node): void;
  /** Whether there are such claims. */
  readonly isWaiting: boolean;
}

/** The volumes of a pod, with the limit of what a node attaches. */
export interface PodVolumeRule extends VolumeRule {
  /** Whether the node would attach more EBS volumes with the pod than its CSINode allows beside `pods`. */
  exceeds(node: Node, pods: readonly Pod[]): boolean;
}

/** What the volumes of a pod require of a node; a sentence when no node can have the pod. */
export function volumeRule(world: LabWorld, pod: Pod): PodVolumeRule | string {
  const rules: VolumeRule[] = [];
  /** The volumes that claims of this pod get, by node, so that two claims do not get the same. */
  const taken = new Map<string, Set<string>>();
  for (const name of claimNames(pod)) {
    const claim = world.store.get("PersistentVolumeClaim", name, pod.metadata.namespace) as unknown as PersistentVolumeClaim | undefined;
    if (!claim) return `persistentvolumeclaim "${name}" not found`;
    const rule = claimRule(world, claim, taken);
    if (typeof rule === "string") return rule;
    rules.push(rule);
  }
  return {
    isWaiting: rules.some(({ isWaiting }) => isWaiting),
    refuses: (node) => {
      taken.delete(node.metadata.name);
      for (const rule of rules) {
        const why = rule.refuses(node);
        if (why !== undefined) return why;
      }
      return undefined;
    },
    bind: (node) => {
      for (const rule of rules) rule.bind(node);
    },
    exceeds: (node, pods) => rules.length > 0 && exceedsLimit(world, node, [...pods, pod]),
  };
}

/**
 * Whether these pods use more EBS volumes than the node's CSINode allows
 * (kubernetes: pkg/scheduler/framework/plugins/nodevolumelimits/csi.go, CSILimits.Filter).
 */
function exceedsLimit(world: LabWorld, { metadata }: Node, pods: readonly Pod[]): boolean {
  const csiNode = world.store.get("CSINode", metadata.name) as unknown as CSINode | undefined;
  const most = csiNode?.spec.drivers?.find(({ name }) => name === EBS)?.allocatable?.count;
  if (most === undefined) return false;
  const attached = new Set(
    pods.flatMap((one) => {
      const { namespace = "default" } = one.metadata;
      return claimNames(one)
        .filter((name) => isEbs(world, name, namespace))
        .map((name) => `${namespace}/${name}`);
    }),
  );
  return attached.size > most;
}

function isEbs(world: LabWorld, name: string, namespace: string): boolean {
  const claim = world.store.get("PersistentVolumeClaim", name, namespace) as unknown as PersistentVolumeClaim | undefined;
  if (claim === undefined) return false;
  const volume = world.store.get("PersistentVolume", claim.spec.volumeName ?? "") as unknown as PersistentVolume | undefined;
  return (volume?.spec.csi?.driver ?? classOf(world, claim)?.provisioner) === EBS;
}

function claimNames(pod: Pod): string[] {
  return (pod.spec.volumes ?? []).flatMap((v) =>
    v.persistentVolumeClaim ? [v.persistentVolumeClaim.claimName] : v.ephemeral ? [`${pod.metadata.name}-${v.name}`] : [],
  );
}

function claimRule(world: LabWorld, claim: PersistentVolumeClaim, taken: Map<string, Set<string>>): VolumeRule | string {
  if (isBound(claim)) {
    const volume = world.store.get("PersistentVolume", claim.spec.volumeName ?? "") as unknown as PersistentVolume | undefined;
    const terms = volume?.spec.nodeAffinity?.required?.nodeSelectorTerms;
    const conflict = "node(s) didn't match PersistentVolume's node affinity";
    return {
      isWaiting: false,
      refuses: (node) => (terms && !terms.some((t) => meetsTerm(t, node)) ? conflict : undefined),
      bind: () => {},
    };
  }
  const storageClass = classOf(world, claim);
  if (claim.spec.volumeName || storageClass?.volumeBindingMode !== "WaitForFirstConsumer")
    return "pod has unbound immediate PersistentVolumeClaims";
  const topologies = storageClass.allowedTopologies;
  const own = new Map<string, PersistentVolume>();
  const noVolume = "node(s) didn't find available persistent volumes to bind";
  return {
    isWaiting: true,
    refuses: (node) => {
      const { name, labels = {} } = node.metadata;
      const others = taken.get(name) ?? new Set();
      taken.set(name, others);
      const volume = freeVolume(world, claim, storageClass.metadata.name, node, (volumeName) => others.has(volumeName));
      if (volume) {
        others.add(volume.metadata.name);
        own.set(name, volume);
        return undefined;
      }
      own.delete(name);
      if (storageClass.provisioner === NO_PROVISIONER) return noVolume;
      const allowed =
        !topologies ||
        topologies.some((t) => (t.matchLabelExpressions ?? []).every((e) => e.values.includes(ownValue(labels, e.key) ?? "")));
      return allowed ? undefined : noVolume;
    },
    bind: (node) => {
      const volume = own.get(node.metadata.name);
      if (volume) bindTo(world, claim, volume.metadata.name, () => reserveVolume(world, volume, claim, BINDER));
      else provision(world, claim, storageClass, node.metadata.labels?.[ZONE]);
    },
  };
}

function classOf(world: LabWorld, claim: PersistentVolumeClaim): StorageClass | undefined {
  const name = classNameOf(claim);
  return name === undefined ? undefined : (world.store.get("StorageClass", name) as unknown as StorageClass | undefined);
}

function provision(world: LabWorld, claim: PersistentVolumeClaim, storageClass: StorageClass, zone: string | undefined): void {
  const user = "system:serviceaccount:kube-system:ebs-csi-controller-sa";
  const name = `pvc-${claim.metadata.uid ?? claim.metadata.name}`;
  const terms = [{ matchExpressions: [{ key: ZONE, operator: "In", values: [zone] }] }];
  const volume = {
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: { name },
    spec: {
      csi: { driver: storageClass.provisioner ?? EBS },
      claimRef: { namespace: claim.metadata.namespace, name: claim.metadata.name, uid: claim.metadata.uid },
      ...(zone !== undefined && { nodeAffinity: { required: { nodeSelectorTerms: terms } } }),
    },
    status: { phase: "Bound" },
  } as ApiObject;
  bindTo(world, claim, name, () => world.store.create(volume, { user }), user);
}

/** Makes the claim refer to a volume, after the volume refers to the claim. */
function bindTo(world: LabWorld, { metadata }: PersistentVolumeClaim, volume: string, before: () => void, user = BINDER): void {
  before();
  world.store.patch("PersistentVolumeClaim", metadata.name, metadata.namespace, { user }, (o: MutableObject) => {
    o.spec.volumeName = volume;
    o.status = { phase: "Bound" };
    o.metadata.annotations = { ...o.metadata.annotations, [BIND_COMPLETED]: "yes" };
    return o;
  });
}

/** The volume controllers: ephemeral claims, immediate binding, attaching and detaching. */
export function startVolumes(world: LabWorld, zones: readonly string[]): void {
  const sync = debounced(world, "volume controllers", 100, () => {
    for (const pod of podsOf(world)) ephemeralClaims(world, pod);
    for (const object of world.store.list("PersistentVolumeClaim")) {
      const claim = object as unknown as PersistentVolumeClaim;
      if (!isBound(claim)) bindAtOnce(world, claim, zones[0]);
    }
    attach(world);
  });
  const detach = debounced(world, "attach-detach controller", DETACH_MS, () => detachUnused(world));
  world.onChange(({ kind, type }) => {
    if (kind === "Pod" || kind === "PersistentVolumeClaim" || kind === "PersistentVolume" || kind === "StorageClass") sync();
    if (kind === "Pod" && type === "DELETED") detach();
  });
}

const BIND_COMPLETED = "pv.kubernetes.io/bind-completed";

const isBound = ({ metadata, spec }: PersistentVolumeClaim): boolean =>
  Boolean(spec.volumeName) && metadata.annotations?.[BIND_COMPLETED] !== undefined;

/**
 * Binds a claim whose class does not wait for a consumer, that has no class, or that names its volume, as far as
 * there is
 * a volume for it.
 */
function bindAtOnce(world: LabWorld, claim: PersistentVolumeClaim, zone: string | undefined): void {
  const storageClass = classOf(world, claim);
  if (!claim.spec.volumeName && storageClass?.volumeBindingMode === "WaitForFirstConsumer") return;
  const volume = freeVolume(world, claim, classNameOf(claim) ?? "", undefined, () => false);
  if (volume) bindTo(world, claim, volume.metadata.name, () => reserveVolume(world, volume, claim, BINDER));
  else if (!claim.spec.volumeName && storageClass && storageClass.provisioner !== NO_PROVISIONER)
    provision(world, claim, storageClass, zone);
}

function ephemeralClaims(world: LabWorld, pod: Pod): void {
  for (const volume of pod.spec.volumes ?? []) {
    const name = `${pod.metadata.name}-${volume.name}`;
    const template = volume.ephemeral?.volumeClaimTemplate;
    if (!template || world.store.get("PersistentVolumeClaim", name, pod.metadata.namespace)) continue;
    const { namespace = "default", uid = "" } = pod.metadata;
    const ownerReferences = [{ apiVersion: "v1", kind: "Pod", name: pod.metadata.name, uid, controller: true }];
    const metadata = { name, namespace, ownerReferences };
    const user = "system:serviceaccount:kube-system:ephemeral-volume-controller";
    world.store.create(
      { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata, spec: template.spec, status: { phase: "Pending" } },
      { user },
    );
  }
}

const AD_CONTROLLER = { user: "system:serviceaccount:kube-system:attachdetach-controller" };

/** The attachments that the pods on nodes use, by name. */
function attachments(world: LabWorld): ReadonlyMap<string, { readonly node: string; readonly volume: string }> {
  const used = new Map<string, { node: string; volume: string }>();
  for (const pod of podsOf(world)) {
    if (!pod.spec.nodeName || isTerminal(pod)) continue;
    for (const name of claimNames(pod)) {
      const claim = world.store.get("PersistentVolumeClaim", name, pod.metadata.namespace) as unknown as PersistentVolumeClaim | undefined;
      const volume = claim?.spec.volumeName;
      if (volume) used.set(`csi-${volume}-${pod.spec.nodeName}`, { node: pod.spec.nodeName, volume });
    }
  }
  return used;
}

function attach(world: LabWorld): void {
  for (const [name, { node, volume }] of attachments(world)) {
    if (world.store.get("VolumeAttachment", name)) continue;
    const spec = { attacher: EBS, nodeName: node, source: { persistentVolumeName: volume } };
    world.store.create({ apiVersion: "storage.k8s.io/v1", kind: "VolumeAttachment", metadata: { name }, spec }, AD_CONTROLLER);
  }
}

function detachUnused(world: LabWorld): void {
  const used = attachments(world);
  for (const { metadata } of world.store.list("VolumeAttachment")) {
    if (metadata.name.startsWith("csi-") && !used.has(metadata.name))
      world.store.delete("VolumeAttachment", metadata.name, {}, AD_CONTROLLER);
  }
}
