import { TERMINATION_TIMESTAMP } from "#core/model/labels.ts";
import { apply, applyPool, deployment, manifest, neverConsolidated, pdb, reset, scale } from "../arrange.ts";
import {
  type AuditRecord,
  alive,
  auditRecords,
  evictions,
  firstTermination,
  LONG,
  lastCall,
  leastReady,
  list,
  pods,
  running,
  type Thing,
} from "../observe.ts";
import { check, expect, figure } from "../report.ts";
import { eventually, everyStep } from "../support/wait.ts";
import type { E2eWorld } from "../world.ts";

const isTainted = ({ spec }: Thing): boolean => spec.taints?.some(({ key }) => key === "karpenter.sh/disrupted") === true;

/** Runs `kubectl delete nodeclaims --all` and waits until `refusals` evictions have been refused. */
async function blockDrain(world: E2eWorld, refusals: number): Promise<void> {
  const from = Date.now();
  const before = (await pods(world)).map(({ metadata }) => metadata.name).sort();
  const machines = alive(world).map(({ id }) => id);
  await world.cluster.kubectl("delete", "nodeclaims", "--all", "--wait=false");
  await eventually(`${refusals} evictions are refused`, () => evictions(world, from, 429).length >= refusals, {
    timeoutMs: LONG,
    everyMs: 500,
  });
  const after = (await pods(world)).map(({ metadata }) => metadata.name).sort();
  expect(after.join() === before.join(), () => `other pods than before: ${after.join(" ")}, not ${before.join(" ")}`);
  expect(evictions(world, from, 201).length === 0, () => "a pod was evicted");
  const living = alive(world).map(({ id }) => id);
  expect(
    machines.every((id) => living.includes(id)),
    () => "a machine was ended under its pods",
  );
  expect((await list(world, "nodes")).some(isTainted), () => "no node that is tainted");
}

/** Unblocks a drain with `free`, and waits for the end of the instances that were being drained. */
async function freeDrain(world: E2eWorld, what: string, least: number, free: () => Promise<unknown>): Promise<void> {
  const draining = new Set((await list(world, "nodeclaims")).filter(isGoing).map(({ status }) => status?.providerID?.split("/").at(-1)));
  const victims = alive(world).filter(({ id }) => draining.has(id));
  expect(victims.length > 0, () => "no machine that drains");
  const after = lastCall(world);
  const from = Date.now();
  const seen = await leastReady(world, async () => {
    await free();
    await eventually("the drained machines end", () => victims.every(({ state }) => state === "terminated"), { timeoutMs: LONG });
  });
  const ended = firstTermination(world, after);
  if (ended !== undefined) figure(`blocked drain: from ${what} to TerminateInstances`, ended - from);
  expect(seen >= least, () => `a moment with ${seen} ready pods, the budget asks for ${least}`);
}

const isGoing = ({ metadata }: Thing): boolean => metadata.deletionTimestamp !== undefined;

/** A drain that a PodDisruptionBudget blocks waits without a limit, and continues when the budget allows it. */
export async function blockedDrainStory(world: E2eWorld): Promise<void> {
  await world.registerWebhook();
  await check("the default NodePool becomes Ready", () => applyPool(world, "default", neverConsolidated));
  await apply(world, pdb("inflate", { minAvailable: 2 }), manifest("inflate-cpu"));
  await check("two pods run", async () => {
    await scale(world, "inflate", 2);
    await running(world, "default", 2);
  });
  await check("a budget that needs both of them blocks the drain of a deleted NodeClaim", () => blockDrain(world, 4));
  await check("a third pod becomes ready elsewhere, and the drain goes through, two pods ready all the while", async () => {
    await freeDrain(world, "a third pod asked for", 2, () => scale(world, "inflate", 3));
    await running(world, "default", 3);
  });
  await check("a budget that needs all three of them blocks the next", async () => {
    await apply(world, pdb("inflate", { minAvailable: 3 }));
    await blockDrain(world, 3);
  });
  await check("the budget is loosened, and the drain goes through, one pod ready all the while", async () => {
    await freeDrain(world, "the budget loosened", 1, () => apply(world, pdb("inflate", { minAvailable: 1 })));
    await running(world, "default", 3);
  });
  await check("all pods gone, all machines gone", async () => {
    await reset(world);
    await world.removeWebhook();
  });
}

/** terminationGracePeriod of the NodePool, s; and of its pods, which use all of the time that they get. */
const PERIOD_SECONDS = 45;
const POD_GRACE_SECONDS = 20;

/**
 * A terminationGracePeriod ends a drain that a PodDisruptionBudget and do-not-disrupt block: each pod gets its own
 * grace period, and then the instance is terminated.
 */
export async function deadlineStory(world: E2eWorld): Promise<void> {
  await world.registerWebhook();
  await check("a NodePool with a terminationGracePeriod becomes Ready", () =>
    applyPool(world, "default", neverConsolidated, (text) =>
      text.replace("expireAfter: 720h", `expireAfter: 720h\n      terminationGracePeriod: ${PERIOD_SECONDS}s`),
    ),
  );
  const slow = { "testcluster/stop-after": `${POD_GRACE_SECONDS}s` };
  await apply(
    world,
    pdb("guarded", { maxUnavailable: 0 }),
    deployment("guarded", 1, { annotations: slow, graceSeconds: POD_GRACE_SECONDS }),
    deployment("precious", 1, { annotations: { ...slow, "karpenter.sh/do-not-disrupt": "true" }, graceSeconds: POD_GRACE_SECONDS }),
  );
  await check("a pod behind a budget and one with do-not-disrupt run", async () => {
    await running(world, "default", 2);
  });
  const from = Date.now();
  const after = lastCall(world);
  const victims = alive(world);
  const held = await pods(world);
  let deadline = Number.NaN;
  await check("a deleted NodeClaim is told by when all pods must have gone", async () => {
    await world.cluster.kubectl("delete", "nodeclaims", "--all", "--wait=false");
    const claims = await eventually(
      "the claims bear their deadline",
      async () => {
        const found = (await list(world, "nodeclaims")).filter(isGoing);
        return found.length > 0 && found.every(({ metadata }) => metadata.annotations?.[TERMINATION_TIMESTAMP]) ? found : undefined;
      },
      { timeoutMs: LONG },
    );
    for (const { metadata } of claims) {
      deadline = Date.parse(metadata.annotations?.[TERMINATION_TIMESTAMP] ?? "");
      const period = (deadline - Date.parse(metadata.deletionTimestamp ?? "")) / 1_000;
      expect(period === PERIOD_SECONDS, () => `${period} s, not ${PERIOD_SECONDS}`);
    }
  });
  await check("the machine ends though nothing may be evicted", async () => {
    await eventually("the machines end", () => victims.every(({ state }) => state === "terminated"), { timeoutMs: LONG });
    const ended = firstTermination(world, after) ?? Number.NaN;
    figure(`terminationGracePeriod ${PERIOD_SECONDS} s: from kubectl delete nodeclaim to TerminateInstances`, ended - from);
    figure(`terminationGracePeriod ${PERIOD_SECONDS} s: from its end to TerminateInstances`, ended - deadline);
    expect(evictions(world, from, 201).length === 0, () => "a protected pod was evicted");
  });
  await check("each pod was deleted late enough to be left alone for long, early enough to have its grace period", () =>
    expectTimelyDeletions(world, held, from, deadline),
  );
  await check("the pods run elsewhere", async () => {
    await running(world, "default", 2);
  });
  await check("all pods gone, all machines gone", async () => {
    await reset(world);
    await world.removeWebhook();
  });
}

/** Maximum delay between the choice of a grace period and the API server's timestamp, on a busy machine. */
const SLOWEST_CALL_MS = 10_000;

async function expectTimelyDeletions(world: E2eWorld, held: readonly Thing[], from: number, deadline: number): Promise<void> {
  const names = held.map(({ metadata }) => metadata.name);
  const ours = await everyStep<Readonly<Record<string, AuditRecord>>>("each pod's deletion is in the audit log", () => {
    const deletions = auditRecords(world, from, (line) => line.includes('"verb":"delete"') && line.includes('"resource":"pods"'));
    // The kubelet also deletes pods, at the end of their grace period.
    const asked = deletions.filter(({ user }) => !user.username.startsWith("system:node:"));
    return Object.fromEntries(names.map((name) => [name, asked.find(({ objectRef }) => objectRef?.name === name)]));
  });
  for (const { metadata } of held) {
    const { requestReceivedTimestamp, responseObject } = ours[metadata.name] as AuditRecord;
    const asked = Date.parse(requestReceivedTimestamp);
    const due = deadline - POD_GRACE_SECONDS * 1_000;
    const app = metadata.labels?.["app"];
    figure(`terminationGracePeriod ${PERIOD_SECONDS} s: from the last moment for the grace period of ${app} to its deletion`, asked - due);
    expect(asked >= due, () => `${metadata.name} deleted ${(due - asked) / 1_000} s too early`);
    // A later deletion grants less time; the minimum is one second.
    const goneBy = Date.parse(responseObject?.metadata.deletionTimestamp ?? "");
    const latest = Math.max(deadline, asked + 1_000) + SLOWEST_CALL_MS;
    figure(`terminationGracePeriod ${PERIOD_SECONDS} s: from its end to the last moment that is left to ${app}`, goneBy - deadline);
    expect(goneBy <= latest, () => `${metadata.name} may stay for ${(goneBy - deadline) / 1_000} s after the deadline`);
  }
}
