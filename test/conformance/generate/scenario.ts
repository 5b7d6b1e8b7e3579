import { instanceTypes } from "./instance-types.ts";
import { MIXES } from "./mix.ts";
import { nearlyUsedUp, nodePools } from "./node-pools.ts";
import { machines } from "./nodes.ts";
import { random as randomOf } from "./random.ts";
import { csiNodes, STORAGE_CLASSES, type Storage } from "./volumes.ts";
import { daemonPods, daemonSets, disruptionBudgets, Room, workload } from "./workloads.ts";

/**
 * Scenario number `index` of a seed (docs/scenario-format.md); the kinds take turns unless one is named. Equal
 * arguments give equal scenarios.
 */
export function generateScenario(seed: number, index: number, only?: string): Record<string, unknown> {
  const kinds = Object.keys(MIXES);
  const kind = only ?? kinds[index % kinds.length] ?? "basic";
  const mix = MIXES[kind];
  if (mix === undefined) throw new RangeError(`there is no kind ${kind}`);
  const random = randomOf(`${seed}-${index}`);
  const types = instanceTypes(random, random.int(4, 36), random.int(0, mix.reservations));
  const drawn = nodePools(random, mix, types);
  const present = machines(random, mix.nodes, drawn, types);
  const pools = mix.cpusLeft === undefined ? drawn : nearlyUsedUp(random, drawn, present, mix.cpusLeft);
  const room = new Room(present);
  const storage: Storage = { persistentVolumeClaims: [], persistentVolumes: [] };
  const daemons = daemonSets(random, mix);
  const agents = daemonPods(random, daemons, present, room);
  const workloads = Array.from({ length: random.int(1, mix.workloads) }, (_, i) => workload(random, mix, i, types, present, room, storage));
  return {
    name: `${kind}-${seed}-${index}`,
    now: "2026-01-01T00:00:00Z",
    nodePools: pools,
    nodes: present.flatMap(({ node }) => node ?? []),
    nodeClaims: present.flatMap(({ claim }) => claim ?? []),
    pods: [...agents, ...workloads.flat()],
    daemonSets: daemons,
    podDisruptionBudgets: disruptionBudgets(random),
    ...storage,
    storageClasses: STORAGE_CLASSES,
    csiNodes: csiNodes(random, present),
    namespaces: ["default", "other", "kube-system"].map((name) => ({
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name, labels: { "kubernetes.io/metadata.name": name, env: name === "other" ? "dev" : "prod" } },
    })),
    instanceTypes: types,
  };
}
