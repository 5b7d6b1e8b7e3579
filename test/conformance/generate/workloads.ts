import type { InstanceType } from "#core/model/instance-type.ts";
import type { Pod, PodSpec } from "#core/model/pod.ts";
import type { DaemonSet, PodDisruptionBudget } from "#core/model/workloads.ts";
import {
  type Amounts,
  amounts,
  hardTaint,
  likesNode,
  plus,
  portsClash,
  portsOf,
  requestsOf,
} from "../../support/scheduling/judge-rules.ts";
import type { Mix } from "./mix.ts";
import { COLOURS } from "./node-pools.ts";
import type { GeneratedMachine } from "./nodes.ts";
import { hostPorts, podSpec } from "./pod-spec.ts";
import { NAMESPACES } from "./pod-topology.ts";
import type { Random } from "./random.ts";
import { type Storage, storageHabit, withVolumes } from "./volumes.ts";

/** Free resources of the machines that accept pods. */
export class Room {
  readonly #left = new Map<GeneratedMachine, { used: Amounts; ports: ReturnType<typeof portsOf> }>();
  readonly #machines: readonly GeneratedMachine[];

  constructor(machines: readonly GeneratedMachine[]) {
    this.#machines = machines.filter(({ node }) => node !== undefined);
    for (const machine of this.#machines) this.#left.set(machine, { used: {}, ports: [] });
  }

  /** Machines that accept such a pod, except for hard rules about other pods. */
  for(spec: PodSpec): readonly GeneratedMachine[] {
    return this.#machines.filter((machine) => this.takes(machine, spec));
  }

  takes(machine: GeneratedMachine, spec: PodSpec): boolean {
    const state = this.#left.get(machine);
    if (state === undefined || hardTaint(machine.taints, spec.tolerations) || !likesNode(spec, machine.labels)) return false;
    const total = plus(state.used, requestsOf({ spec }));
    const room = amounts(machine.allocatable);
    return Object.entries(total).every(([name, n]) => n <= (room[name] ?? 0)) && !portsClash(portsOf(spec), state.ports);
  }

  take(machine: GeneratedMachine, spec: PodSpec): void {
    const state = this.#left.get(machine);
    if (state === undefined) throw new RangeError(`${machine.name} has no room of its own`);
    state.used = plus(state.used, requestsOf({ spec }));
    state.ports = [...state.ports, ...portsOf(spec)];
  }
}

export function daemonSets(random: Random, mix: Mix): DaemonSet[] {
  return Array.from({ length: random.int(0, 3) }, (_, i): DaemonSet => {
    const name = `agent-${i}`;
    const requests = { cpu: `${random.int(1, 20) * 10}m`, memory: `${random.int(1, 20) * 16}Mi` };
    const gpuNodes = { key: "karpenter.k8s.aws/instance-gpu-count", operator: "Exists" as const };
    const largeNodes = { key: "karpenter.k8s.aws/instance-category", operator: "In" as const, values: ["m", "r"] };
    return {
      apiVersion: "apps/v1",
      kind: "DaemonSet",
      metadata: { name, namespace: "kube-system", uid: `uid-${name}`, creationTimestamp: "2025-12-30T00:00:00Z" },
      spec: {
        selector: { matchLabels: { app: name } },
        template: {
          metadata: { labels: { app: name } },
          spec: {
            containers: [
              {
                name: "main",
                image: "agent",
                resources: { requests },
                ...(random.chance(mix.hostPorts) ? { ports: hostPorts(random) } : {}),
              },
            ],
            ...(random.chance(0.5) ? { tolerations: [{ operator: "Exists" as const }] } : {}),
            ...(random.chance(0.3)
              ? { nodeSelector: random.pick([{ "kubernetes.io/arch": random.pick(["amd64", "arm64"]) }, { team: random.pick(COLOURS) }]) }
              : {}),
            ...(random.chance(0.15)
              ? {
                  affinity: {
                    nodeAffinity: {
                      requiredDuringSchedulingIgnoredDuringExecution: {
                        nodeSelectorTerms: [{ matchExpressions: [gpuNodes] }, { matchExpressions: [largeNodes] }],
                      },
                    },
                  },
                }
              : {}),
          },
        },
      },
    };
  });
}

/** Pods of DaemonSets on the existing machines; some pods are missing. */
export function daemonPods(random: Random, sets: readonly DaemonSet[], machines: readonly GeneratedMachine[], room: Room): Pod[] {
  return machines.flatMap((machine) =>
    sets.flatMap(({ metadata, spec: { template } }): Pod[] => {
      if (!room.takes(machine, template.spec) || random.chance(0.1)) return [];
      room.take(machine, template.spec);
      return [
        running({
          metadata: {
            name: `${metadata.name}-${machine.name}`,
            namespace: "kube-system",
            labels: template.metadata?.labels ?? {},
            ownerReferences: [owner("DaemonSet", metadata.name)],
          },
          spec: { ...template.spec, nodeName: machine.name },
        }),
      ];
    }),
  );
}

const owner = (kind: string, name: string) => ({ apiVersion: "apps/v1", kind, name, uid: `uid-${name}`, controller: true });

function running(pod: Pod): Pod {
  return complete(pod, {
    phase: "Running",
    conditions: [
      { type: "PodScheduled", status: "True" },
      { type: "Ready", status: "True" },
    ],
  });
}

const complete = ({ metadata, spec }: Pod, status: NonNullable<Pod["status"]>): Pod => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { creationTimestamp: "2025-12-31T23:00:00Z", ...metadata, uid: `uid-${metadata.namespace}-${metadata.name}` },
  spec,
  status,
});

/** Pods of one workload: some run, the others are pending. */
export function workload(
  random: Random,
  mix: Mix,
  i: number,
  types: readonly InstanceType[],
  machines: readonly GeneratedMachine[],
  room: Room,
  storage: Storage,
): Pod[] {
  const app = `app-${random.int(0, 8)}`;
  const name = `${app}-${i}`;
  const namespace = random.chance(0.9) ? "default" : random.pick(NAMESPACES);
  const labels = {
    app,
    "pod-template-hash": `h${random.int(0, 2)}`,
    ...(random.chance(0.2) ? { track: random.pick(["stable", "canary"]) } : {}),
  };
  const nodeNames = machines.flatMap(({ node }) => (node === undefined ? [] : [node.metadata.name]));
  const spec = podSpec(random, mix, app, types, nodeNames);
  const habit = random.chance(mix.volumes) ? storageHabit(random) : undefined;
  const metadata = (pod: string) => ({ name: pod, namespace, labels, ownerReferences: [owner("ReplicaSet", name)] });
  const bound = Array.from({ length: machines.length === 0 ? 0 : random.int(0, 5) }, (_, n): Pod[] => {
    const machine = random.pick([...room.for(spec), undefined]);
    if (machine === undefined) return [];
    room.take(machine, spec);
    const pod = running({ metadata: metadata(`${name}-bound-${n}`), spec: { ...spec, nodeName: machine.name } });
    return [habit === undefined ? pod : withVolumes(random, storage, habit, pod, app, machine)];
  }).flat();
  const replicas = random.chance(0.7) ? random.int(1, Math.max(1, Math.ceil(mix.replicas / 4))) : random.int(1, mix.replicas);
  const gated = random.chance(0.02);
  const pending = Array.from({ length: replicas }, (_, n): Pod => {
    const pod = complete(
      { metadata: { ...metadata(`${name}-${n}`), creationTimestamp: `2025-12-31T23:${String(10 + (n % 50))}:00Z` }, spec },
      {
        phase: "Pending",
        conditions: [{ type: "PodScheduled", status: "False", reason: gated ? "SchedulingGated" : "Unschedulable" }],
      },
    );
    return habit === undefined ? pod : withVolumes(random, storage, habit, pod, app);
  });
  return [...bound, ...pending];
}

export function disruptionBudgets(random: Random): PodDisruptionBudget[] {
  return Array.from({ length: random.chance(0.2) ? random.int(1, 2) : 0 }, (_, i) => ({
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: { name: `budget-${i}`, namespace: "default", uid: `uid-budget-${i}` },
    spec: { selector: { matchLabels: { app: `app-${random.int(0, 8)}` } }, maxUnavailable: random.pick([0, 1, "50%"]) },
    status: { disruptionsAllowed: random.int(0, 1) },
  }));
}
