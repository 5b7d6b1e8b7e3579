import { expect, it } from "vitest";
import type { Pod } from "../../../core/model/pod.ts";
import { memoryLog } from "../../../functions/adapters/log.ts";
import { nominateHeld } from "../../../functions/lifecycle/nominate-held.ts";
import type { LifecycleDeps } from "../../../functions/shared/cluster-deps.ts";
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
async function nominating(version: string) {
  const told: string[] = [];
  let asked = 0;
  const kubernetes = {
    version: async () => version,
    get: async (_kind: string, name: string, namespace: string) => {
      asked++;
      return PODS.find(({ metadata }) => metadata.name === name && (metadata.namespace ?? "default") === namespace);
    },
    nominate: async ({ metadata }: Pod, node: string) => void told.push(`${metadata.name} ${node}`),
  };
  const uids = PODS.map(({ metadata }) => (metadata.name === "again" ? "uid-again" : (metadata.uid ?? "")));
  const pods = [...PODS.map(({ metadata }) => `default/${metadata.name}`), "default/gone"];
  const deps = { kubernetes, settings: { nominateNodes: true }, log: memoryLog() };
  await nominateHeld([{ pods, uids, node: "n" }], deps as unknown as LifecycleDeps);
  return { told, asked };
}

it("of the pods that a node was launched for, those that wait for any node are nominated to it", async () => {
  expect((await nominating("1.36")).told).toEqual(["waits n"]);
});

it("no pod is asked for where kube-scheduler does not heed nominations", async () => {
  expect(await nominating("1.34")).toEqual({ told: [], asked: 0 });
});
