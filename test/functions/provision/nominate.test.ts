import { expect, it } from "vitest";
import { memoryLog } from "#adapters/telemetry/log.ts";
import type { Pod } from "#core/model/pod.ts";
import { ConflictError, NotFoundError, RefusedError } from "#core/ports/errors.ts";
import { nominateNodes } from "#functions/provision/nominate.ts";
import type { ClusterDeps } from "#functions/shared/cluster-deps.ts";
import { ProcessMemory } from "#functions/shared/process-memory.ts";
import { nodeWithClaim, pod, snapshotOf } from "../../support/scheduling/builders.ts";

const starting = nodeWithClaim("a", { initialized: false });
const SNAPSHOT = snapshotOf(
  {
    nodes: [starting.node],
    nodeClaims: [starting.claim],
    pods: [pod("x", { cpu: "2" }), pod("y", { cpu: "3" }), pod("stranger-1"), pod("stranger-2")],
  },
  { nominated: new Map(["x", "y"].map((name) => [`uid-${name}`, "default-a"])) },
);

/** Nominates for the pods x and y; `answer` may throw. */
async function nominating(options: { on?: boolean; version?: string; answer?: (pod: Pod) => void }) {
  const { on = true, version = "1.35", answer = () => undefined } = options;
  const told: string[] = [];
  const log = memoryLog();
  const kubernetes = {
    version: async () => version,
    nominate: async (one: Pod, node: string) => {
      answer(one);
      told.push(`${one.metadata.name} ${node}`);
    },
  };
  await nominateNodes(SNAPSHOT, {
    cluster: {},
    memory: new ProcessMemory(),
    now: () => 0,
    kubernetes,
    settings: { nominateNodes: on },
    log,
  } as unknown as ClusterDeps);
  return { told, lines: log.records.map(({ level, message }) => `${level} ${message}`) };
}

it.for([
  { name: "Kubernetes 1.35", options: { version: "1.35" }, told: ["x a", "y a"] },
  { name: "Kubernetes 1.34, which does not heed it,", options: { version: "1.34" }, told: [] },
  { name: "a deployment that turns it off", options: { on: false }, told: [] },
])("pods of $name are nominated: $told", async ({ options, told }) => {
  expect((await nominating(options)).told).toEqual(told);
});

it.for([
  { name: "has changed", error: new ConflictError("changed") },
  { name: "is gone", error: new NotFoundError("gone") },
])("a pod that $name meanwhile keeps no other pod from its nomination", async ({ error }) => {
  const answer = ({ metadata }: Pod): void => {
    if (metadata.name === "x") throw error;
  };
  expect((await nominating({ answer })).told).toEqual(["y a"]);
});

it("a role without the right to nominate is reported, and planning goes on", async () => {
  const answer = (): void => {
    throw new RefusedError("apply infra/rbac");
  };
  expect((await nominating({ answer })).lines).toEqual(["error could not nominate nodes for pods"]);
});
