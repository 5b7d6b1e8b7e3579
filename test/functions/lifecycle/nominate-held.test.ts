import { expect, it } from "vitest";
import { memoryLog } from "#adapters/telemetry/log.ts";
import type { Pod } from "#core/model/pod.ts";
import { nominateHeld } from "#functions/lifecycle/held-nodes.ts";
import type { LifecycleDeps } from "#functions/shared/cluster-deps.ts";
import { ProcessMemory } from "#functions/shared/process-memory.ts";
import { pod } from "../../support/objects.ts";

const affine = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: "kubernetes.io/hostname" }] } };

const PODS: readonly Pod[] = [
  pod("waits"),
  pod("runs", { nodeName: "other" }),
  pod("ends", { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } }),
  { ...pod("preempts"), status: { nominatedNodeName: "another" } },
  pod("near", { spec: { affinity: affine } as never }),
  { ...pod("again"), metadata: { ...pod("again").metadata, uid: "another-uid" } },
];

/** The pods that are nominated, and how many are asked for. */
async function nominating(version: string, wanted = PODS) {
  const told: string[] = [];
  let asked = 0;
  const kubernetes = {
    version: async () => version,
    get: async (_kind: string, name: string, namespace: string) => {
      asked++;
      return PODS.find(({ metadata }) => metadata.name === name && (metadata.namespace ?? "default") === namespace);
    },
    list: async () => {
      asked++;
      return PODS.filter(({ spec }) => spec.nodeName === undefined);
    },
    nominate: async ({ metadata }: Pod, node: string) => void told.push(`${metadata.name} ${node}`),
  };
  const uids = wanted.map(({ metadata }) => (metadata.name === "again" ? "uid-again" : (metadata.uid ?? "")));
  const pods = [...wanted.map(({ metadata }) => `default/${metadata.name}`), "default/gone"];
  const deps = { cluster: {}, memory: new ProcessMemory(), now: () => 0, kubernetes, log: memoryLog() };
  await nominateHeld([{ pods, uids, node: "n" }], deps as unknown as LifecycleDeps);
  return { told, asked };
}

it("of the pods that a node was launched for, those that wait for any node are nominated to it", async () => {
  expect((await nominating("1.36")).told).toEqual(["waits n"]);
});

it.for([
  { name: "two pods and one that is gone are read by name", wanted: PODS.slice(0, 2), asked: 3 },
  { name: "many pods are read by one list", wanted: PODS, asked: 1 },
])("$name", async ({ wanted, asked }) => {
  expect(await nominating("1.36", wanted)).toEqual({ told: ["waits n"], asked });
});

it("no pod is asked for where kube-scheduler does not heed nominations", async () => {
  expect(await nominating("1.34")).toEqual({ told: [], asked: 0 });
});
