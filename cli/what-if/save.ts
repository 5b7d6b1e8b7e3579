import { writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { KEPT_FIELDS, keptFields, withoutUserData } from "#core/insight/kept-fields.ts";
import { stageOf } from "#core/insight/what-if/start.ts";
import type { InstanceType } from "#core/model/instance-type.ts";
import type { KubernetesObject } from "#core/model/kubernetes.ts";
import { counted } from "#core/scheduling/reasons/words.ts";
import { InputError } from "#terminal/input-error.ts";
import type { Source } from "./source.ts";

/** The lists of a saved snapshot, with the kind of their objects. */
const LISTS = {
  nodePools: "NodePool",
  nodes: "Node",
  nodeClaims: "NodeClaim",
  pods: "Pod",
  daemonSets: "DaemonSet",
  podDisruptionBudgets: "PodDisruptionBudget",
  persistentVolumeClaims: "PersistentVolumeClaim",
  persistentVolumes: "PersistentVolume",
  storageClasses: "StorageClass",
  csiNodes: "CSINode",
  namespaces: "Namespace",
  nodeClasses: "EC2NodeClass",
  nodeOverlays: "NodeOverlay",
} as const satisfies Readonly<Record<string, keyof typeof KEPT_FIELDS>>;

/**
 * Writes what the core reads of a cluster to a file, and says what it wrote. Throws InputError when the file cannot be
 * written.
 */
export function saveSource(source: Source, path: string): string {
  const json = JSON.stringify(savedSource(source));
  try {
    writeFileSync(path, path.endsWith(".gz") ? gzipSync(json) : json);
  } catch (error) {
    throw new InputError(`cannot write ${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
  const { nodes, pods, virtualPods = [] } = source.snapshot;
  const left = virtualPods.length > 0 ? " CapacityBuffers are left out." : "";
  const what = `${path}: ${counted(nodes.length, "node")}, ${counted(pods.length, "pod")}; without environment, commands, images, user data, foreign annotations.`;
  return `${what}${left}\nNames, labels and the specs of definitions are in it: look before you hand it on.\n`;
}

/**
 * A source as a scenario (docs/scenario-format.md), with nodeClasses, nodeOverlays and otherInstanceTypes. What the
 * stack's table knows is written into the objects.
 */
export function savedSource({ name, snapshot, nodeClasses, nodeOverlays, intents, typesOf, remarks }: Source): Record<string, unknown> {
  const staged = stageOf(snapshot, intents).snapshot;
  const { priceCap: cap } = snapshot;
  const objects: Readonly<Record<string, readonly KubernetesObject[]>> = {
    ...(staged as unknown as Record<string, readonly KubernetesObject[]>),
    nodeClasses: nodeClasses.map(withoutUserData),
    nodeOverlays,
  };
  const lists = Object.entries(LISTS).map(([list, kind]) => [
    list,
    (objects[list] ?? []).map((object) => keptFields(object, KEPT_FIELDS[kind])),
  ]);
  const classes = [...new Set(snapshot.nodePools.map(({ spec }) => spec.template.spec.nodeClassRef.name))].sort();
  const [main = [], ...others] = byUse(classes.map((one): readonly [string, readonly InstanceType[]] => [one, typesOf(one, nodeClasses)]));
  return {
    name,
    now: new Date(snapshot.now).toISOString(),
    ...(remarks.length > 0 && { remarks }),
    ...(cap && { maxPricePerHour: Math.max(cap.perHour - cap.elsewhere, 0) }),
    ...Object.fromEntries(lists),
    instanceTypes: main[1] ?? [],
    ...(others.length > 0 && { otherInstanceTypes: Object.fromEntries(others) }),
  };
}

/** The first class with its instance types, then the classes whose types differ from it. */
function byUse(classes: readonly (readonly [string, readonly InstanceType[]])[]) {
  const [first, ...others] = classes;
  return first === undefined ? [] : [first, ...others.filter(([, types]) => types !== first[1])];
}
