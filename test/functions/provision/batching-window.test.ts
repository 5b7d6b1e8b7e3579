import { expect, it } from "vitest";
import { wakeUpBody } from "../../../functions/adapters/aws/wake-up-queue.ts";
import { NODE_CLASS } from "../../simulation/story.ts";
import { INFLATE, MINUTE, POOL, pass, ready, SECOND, scale } from "../../support/lab-story.ts";

const POOL_NAMED_SO = { ...POOL, metadata: { ...POOL.metadata, name: "unschedulable" } };

/**
 * The reasons of the plans that one message on provision's queue leads to, a fifth of a second after two pods have
 * become pending.
 */
async function plansAfter(body: (cluster: string) => string): Promise<readonly unknown[]> {
  const lab = await ready([NODE_CLASS, POOL_NAMED_SO, INFLATE], { sources: [] });
  scale(lab, 2);
  await pass(lab, 0.2 * SECOND);
  lab.wakeUps.provision.send(body(lab.world.cluster), { group: lab.world.cluster, dedupId: "a test" });
  await pass(lab, 0.5 * MINUTE);
  lab.close();
  return lab.log.filter(({ message }) => message.startsWith("computing scheduling decision")).map(({ fields }) => fields["reason"]);
}

const DETAIL = "insufficient_capacity unschedulable-x7k2p";

it.for([
  {
    name: "a NodeClaim of a NodePool named unschedulable",
    body: (cluster: string) => wakeUpBody({ kind: "provision", cluster, cause: "NodeClaimTerminating", detail: DETAIL }),
  },
  {
    name: "the same from an older version, which wrote the text alone",
    body: (cluster: string) => JSON.stringify({ kind: "provision", cluster, reason: DETAIL }),
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
])("a plan for $name waits until the batching window of new pods is over", async ({ body }) => {
  expect(await plansAfter(body)).toEqual(["pods are coming"]);
});

it.for([
  {
    name: "new pods",
    body: (cluster: string) => wakeUpBody({ kind: "provision", cluster, cause: "PodsUnschedulable", detail: "2" }),
    reason: "2 pod(s) unschedulable",
  },
  {
    name: "new pods from an older version",
    body: (cluster: string) => JSON.stringify({ kind: "provision", cluster, reason: "2 pod(s) unschedulable" }),
    reason: "2 pod(s) unschedulable",
  },
])("a plan for $name opens no second batching window", async ({ body, reason }) => {
  expect(await plansAfter(body)).toEqual([reason]);
});
