import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import type { Pod } from "#core/model/pod.ts";
import type { Kubernetes } from "#core/ports/kubernetes.ts";
import type { NodeClaimStore } from "#core/ports/node-claim-store.ts";
import type { Lab } from "#lab/host.ts";
import { simulatedKubernetes } from "#lab/world/api-server.ts";
import type { VirtualClock } from "#lab/world/clock.ts";
import { startCluster } from "#lab/world/cluster.ts";
import type { Joinable } from "#lab/world/instances.ts";
import { seeded } from "#lab/world/random.ts";
import { createLabWorld, type LabWorld } from "#lab/world/world.ts";
import type { ApiObject } from "#manifests/api-object.ts";
import { drawObject } from "../../hostile/draw/draw.ts";
import { place, remove } from "../../hostile/place.ts";
import { deployment, FAMILIES, NODE_CLASS, nodePool, ON_DEMAND, START } from "../story.ts";
import { STANDING, type StandingNodes, standingNodes } from "./standing.ts";

/** What one cluster of the fleet is like. */
export interface ClusterSpec {
  readonly name: string;
  readonly seed: number;
  /** Full nodes that stand there from the start. */
  readonly nodes: number;
  readonly kind: "small" | "large" | "hostile" | "dead";
  /** NodeClaims that are on their way when the API server of a dead cluster ends. */
  readonly dying?: number;
}

/** A cluster in its course: its world, and how long its pods have waited for machines. */
export interface PlayedCluster extends Joinable {
  readonly spec: ClusterSpec;
  readonly world: LabWorld;
  readonly kubernetes: Kubernetes;
  readonly standing: StandingNodes | undefined;
  /** Whether the API server answers nothing now. */
  readonly isSilent: () => boolean;
  /** To be told of each record that is written. */
  readonly onRecord: (record: NodeClaimRecord) => void;
  /** From Unschedulable until CreateFleet has answered with the pod's machine, ms, in the order of the answers. */
  readonly waits: readonly number[];
  /** Pods of the course that are Unschedulable, and for which no machine has started so long, ms. */
  readonly waiting: () => readonly number[];
}

const MINUTE = 60_000;
/** The lab's own machines have smaller numbers. */
const FIRST_NODE = 1_000;
/** When the first pods come: every function has swept. */
export const FIRST_POD_MS = 2 * MINUTE;
/** From one burst of pods to the next in a cluster, at least and at most, ms. */
const PAUSE_MS = [60_000, 100_000] as const;
const PODS = { small: 2, large: 20, hostile: 2, dead: 2 } as const;
/** When the API server of the dead cluster ends: it has pods and nodes by then. */
export const DEATH_MS = 3 * MINUTE;
/** The NodeClaims of pods that come so long before the end have been written, and are not launched, ms. */
const LAST_BURST_MS = 3_500;
/** A tenant that means no good: hostile objects at once, how long they stay, and pods that come each second. */
const HOSTILE = { objects: 40, lifeMs: 30_000, podsPerSecond: 5, podLifeMs: 5_000 };

/** A cluster, with what happens in it until `endsAt`, ms since the epoch. */
export function playCluster(spec: ClusterSpec, clock: VirtualClock, endsAt: number): PlayedCluster {
  const world = createLabWorld({ seed: spec.seed, start: START, region: "us-west-2", cluster: spec.name, clock });
  const kubelets = startCluster(world);
  const standing = spec.nodes > 0 ? standingNodes(world, spec.nodes, FIRST_NODE + spec.seed * spec.nodes) : undefined;
  const own = simulatedKubernetes(world);
  const since = new Map<string, number>();
  const waits: number[] = [];
  const served = new Set<string>();

  world.onChange(({ kind, type, object }) => {
    if (kind !== "Pod" || object.metadata.namespace !== "default") return;
    const pod = object as unknown as Pod;
    const { uid = "" } = pod.metadata;
    if (type === "DELETED" || pod.spec.nodeName) since.delete(uid);
    else if (isUnschedulable(pod) && !since.has(uid) && !served.has(uid)) since.set(uid, clock.now());
  });

  for (const object of objectsOf(spec)) world.apply(object);
  const random = seeded(spec.seed).fork("load");
  let replicas = 0;
  const burst = (): void => {
    replicas += PODS[spec.kind];
    world.scale("Deployment", "default", "inflate", replicas);
  };
  for (let at = START + FIRST_POD_MS + random.between(0, PAUSE_MS[0]); at < endsAt - MINUTE; at += random.between(...PAUSE_MS))
    clock.at(at, `pods of ${spec.name}`, burst);
  const { dying = 0 } = spec;
  if (dying > 0) clock.at(START + DEATH_MS - LAST_BURST_MS, `the last pods of ${spec.name}`, () => void world.apply(apart(dying)));
  if (spec.kind === "hostile") beHostile(world, spec.seed);

  return {
    spec,
    world,
    kubelets,
    standing,
    kubernetes: standing?.around(own) ?? own,
    isSilent: () => spec.kind === "dead" && clock.now() >= START + DEATH_MS,
    onRecord({ instance, podUids }) {
      if (instance === undefined) return;
      for (const uid of podUids) {
        const from = since.get(uid);
        if (from === undefined || served.has(uid)) continue;
        served.add(uid);
        since.delete(uid);
        waits.push(clock.now() - from);
      }
    },
    waits,
    waiting: () => [...since.values()].map((from) => clock.now() - from),
  };
}

/** The table, which tells the cluster what is written of its records. */
export function telling(table: NodeClaimStore, { onRecord }: Pick<PlayedCluster, "onRecord">): NodeClaimStore {
  return {
    ...table,
    async update(record, history) {
      const written = await table.update(record, history);
      onRecord(written);
      return written;
    },
  };
}

function objectsOf({ nodes }: ClusterSpec): readonly ApiObject[] {
  const pool = nodePool([ON_DEMAND, FAMILIES]);
  const standing = nodePool([ON_DEMAND], { disruption: { consolidationPolicy: "WhenEmpty", consolidateAfter: "Never" }, limits: {} });
  return [
    NODE_CLASS,
    pool,
    ...(nodes > 0 ? [{ ...standing, metadata: { name: STANDING } }] : []),
    // Pods that are a size of their own, so that each burst needs machines.
    deployment(0, { cpu: "1" }),
  ];
}

/** Pods of which each needs a machine of its own. */
function apart(replicas: number): ApiObject {
  const made = deployment(replicas, { cpu: "1" });
  const { template } = made.spec as { readonly template: { readonly spec: object } };
  const labels = { app: "apart" };
  const affinity = {
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [{ labelSelector: { matchLabels: labels }, topologyKey: "kubernetes.io/hostname" }],
    },
  };
  const spec = { replicas, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { ...template.spec, affinity } } };
  return { ...made, metadata: { name: "apart", namespace: "default" }, spec };
}

const isUnschedulable = ({ status }: Pod): boolean =>
  status?.conditions?.some(({ type, status: is, reason }) => type === "PodScheduled" && is === "False" && reason === "Unschedulable") ??
  false;

/** Objects that hurt, and pods that come and go each second: each wakes the functions. */
function beHostile(world: LabWorld, seed: number): void {
  const random = seeded(seed).fork("hostile");
  const lab = { world } as Lab;
  let drawn = 0;
  const shower = (): void => {
    const objects = Array.from({ length: HOSTILE.objects }, () => drawObject(random, drawn++, { part: 0, sharing: false }));
    for (const object of objects) place(lab, object);
    world.clock.after(HOSTILE.lifeMs, "hostile objects go", () => {
      for (const { object } of objects) remove(lab, object);
    });
  };
  world.clock.every(HOSTILE.lifeMs, "hostile objects come", shower);
  let pods = 0;
  world.clock.every(1_000, "hostile pods come", () => {
    const names = Array.from({ length: HOSTILE.podsPerSecond }, () => `noise-${pods++}`);
    const requests = { cpu: "1" };
    for (const name of names) {
      const spec = { nodeSelector: { nobody: "has-this" }, containers: [{ name: "noise", image: "pause", resources: { requests } }] };
      world.apply({ apiVersion: "v1", kind: "Pod", metadata: { name, namespace: "noise" }, spec });
    }
    world.clock.after(HOSTILE.podLifeMs, "hostile pods go", () => {
      for (const name of names) world.delete("Pod", name, "noise");
    });
  });
}
