import { describe, expect, it } from "vitest";
import type { Node } from "../../../core/model/node.ts";
import type { NodeClaimRecord } from "../../../core/model/node-claim-record.ts";
import type { WakeUp } from "../../../core/ports/wake-ups.ts";
import { reconcileClaim } from "../../../functions/lifecycle/reconcile.ts";
import type { LifecycleDeps } from "../../../functions/shared/cluster-deps.ts";
import { at, INSTANCE, NODE_NAME, NOW, node, nodeClaim, record } from "../../support/builders.ts";

/** A claim that has launched and waits for its node, on a clock that moves on by `slowMs` with each look at it. */
async function tendWaitingClaim(slowMs: number) {
  const happened: (WakeUp | NodeClaimRecord)[] = [];
  const kept = record({ uid: "uid-1", instance: INSTANCE, launchedAt: NOW });
  let now = NOW;
  const claim = nodeClaim({ conditions: ["Launched"] });
  const deps = {
    cluster: { name: kept.cluster },
    store: { get: async () => kept, update: async (written: NodeClaimRecord) => happened.push(written) },
    kubernetes: { get: async () => claim, list: async () => [], updateStatus: async () => claim },
    wakeUps: { wake: async (wakeUps: readonly WakeUp[]) => happened.push(...wakeUps) },
    now: () => {
      now += slowMs;
      return now;
    },
  };
  await reconcileClaim(kept.name, undefined, deps as unknown as LifecycleDeps);
  return happened;
}

describe("the wake-up for the next step", () => {
  it.for([
    { name: "comes when the step is due", slowMs: 0, delayMs: 2_000 },
    { name: "comes no sooner than its time is in the record, though the step is due already", slowMs: 5_000, delayMs: 1_000 },
  ])("$name", async ({ slowMs, delayMs }) => {
    const [wakeUp, written] = await tendWaitingClaim(slowMs);
    const dueAt = NOW + slowMs + 2_000;
    expect(wakeUp).toMatchObject({ kind: "claim", delayMs, dueAt });
    expect(written).toMatchObject({ dueAt });
  });
});

it("the last node of a plan that is Ready wakes the others before it takes pods itself", async () => {
  const held = record({ uid: "uid-1", instance: INSTANCE, launchedAt: NOW, heldFor: ["default/p"] });
  const starting = (name: string, since: number): Node => {
    const made = node("joined");
    const conditions = [{ type: "Ready", status: "True" as const, lastTransitionTime: at(since) }];
    const spec = name === NODE_NAME ? made.spec : { ...made.spec, providerID: "aws:///us-west-2b/i-other" };
    return { ...made, metadata: { ...made.metadata, name, creationTimestamp: at(5) }, spec, status: { ...made.status, conditions } };
  };
  const happened: string[] = [];
  const deps = {
    cluster: { name: held.cluster },
    settings: { nominateNodes: false },
    store: { get: async () => held, byInstance: async (id: string) => ({ ...held, name: `claim-of-${id}` }) },
    fleet: { describe: async () => [] },
    kubernetes: {
      get: async () => nodeClaim({ conditions: ["Launched"] }),
      list: async () => [starting("another", 2), starting(NODE_NAME, 1)],
      update: async (kind: string) => {
        happened.push(`write ${kind}`);
        throw new Error("killed");
      },
    },
    wakeUps: { wake: async (wakeUps: readonly WakeUp[]) => happened.push(...wakeUps.map((wakeUp) => `wake ${JSON.stringify(wakeUp)}`)) },
    now: () => NOW,
  };
  await expect(reconcileClaim(held.name, undefined, deps as unknown as LifecycleDeps)).rejects.toThrow("killed");
  expect(happened).toEqual([`wake {"kind":"claim","cluster":"${held.cluster}","claim":"claim-of-i-other"}`, "write Node"]);
});
