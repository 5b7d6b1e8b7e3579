import { expect, it } from "vitest";
import { wakeUpBody } from "#adapters/aws/wake-up-queue.ts";
import { NODE_CLASS } from "../../simulation/story.ts";
import { INFLATE, MINUTE, POOL, pass, ready, SECOND, scale } from "../../support/lab-story.ts";

const POOL_NAMED_SO = { ...POOL, metadata: { ...POOL.metadata, name: "unschedulable" } };

/**
 * When plans are made, ms after two pods have become pending: one
 * message comes to provision's queue a fifth of a second after the pods.
 */
async function plansAfter(body: (cluster: string) => string): Promise<readonly number[]> {
  const lab = await ready([NODE_CLASS, POOL_NAMED_SO, INFLATE], { sources: [] });
  const began = lab.world.clock.now();
  scale(lab, 2);
  await pass(lab, 0.2 * SECOND);
  lab.wakeUps.provision.send(body(lab.world.cluster), { group: lab.world.cluster, dedupId: "a test" });
  await pass(lab, 0.5 * MINUTE);
  lab.close();
  return lab.log.filter(({ message }) => message.startsWith("computing scheduling decision")).map(({ at }) => at - began);
}

const DETAIL = "insufficient_capacity unschedulable-x7k2p";

it.for([
  {
    name: "a NodeClaim of a NodePool named unschedulable",
    body: (cluster: string) => wakeUpBody({ kind: "provision", cluster, cause: "NodeClaimTerminating", detail: DETAIL }),
  },
  {
    name: "a cause that only a later version knows",
    body: (cluster: string) => JSON.stringify({ kind: "provision", cluster, cause: "FromLater", reason: DETAIL }),
  },
  {
    name: "one new pod, while two have come",
    body: (cluster: string) => wakeUpBody({ kind: "provision", cluster, cause: "PodsUnschedulable", detail: "1" }),
  },
  {
    name: "a NodePool whose name is a number",
    body: (cluster: string) => wakeUpBody({ kind: "provision", cluster, cause: "NodePoolReady", detail: "2" }),
  },
  {
    name: "new pods that another decision has put off",
    body: (cluster: string) => wakeUpBody({ kind: "provision", cluster, cause: "PlanPutOff", detail: "2 pod(s) unschedulable" }),
  },
])("a plan for $name is made as soon as the batching window of new pods is over", async ({ body }) => {
  expect(await plansAfter(body)).toEqual([1_500]);
});

it.for([
  {
    name: "new pods",
    body: (cluster: string) => wakeUpBody({ kind: "provision", cluster, cause: "PodsUnschedulable", detail: "2" }),
  },
])("a plan for $name opens no second batching window", async ({ body }) => {
  expect(await plansAfter(body)).toEqual([1_200]);
});

it("pods that come each second and go after five keep another pod waiting for no longer than two batching windows", async () => {
  const lab = await ready([NODE_CLASS, POOL, INFLATE]);
  const { clock } = lab.world;
  let pods = 0;
  clock.every(SECOND, "pods that fit nowhere", () => {
    const names = Array.from({ length: 5 }, () => `noise-${pods++}`);
    const spec = { nodeSelector: { nobody: "has-this" }, containers: [{ name: "noise", image: "pause" }] };
    for (const name of names) lab.world.apply({ apiVersion: "v1", kind: "Pod", metadata: { name, namespace: "noise" }, spec });
    clock.after(5 * SECOND, "they go", () => names.forEach((name) => void lab.world.delete("Pod", name, "noise")));
  });
  await pass(lab, 30 * SECOND);
  scale(lab, 1);
  await pass(lab, 25 * SECOND);
  expect(lab.cloud.machines()).toHaveLength(1);
  lab.close();
});
