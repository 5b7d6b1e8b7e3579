import { expect, it } from "vitest";
import { embeddedNodeClaimStore } from "#adapters/store/embedded-store.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import { requeueAt } from "#functions/lifecycle/schedule.ts";
import type { LifecycleDeps } from "#functions/shared/cluster-deps.ts";
import { NOW, record } from "../../support/builders.ts";
import { recordingWakeUps } from "../../support/fakes.ts";

const HELD_UNTIL = NOW + 60_000;
const POLLS = [NOW + 2_000, NOW + 4_000, NOW + 6_000];

async function stored() {
  const store = embeddedNodeClaimStore();
  const { cluster, name } = record();
  const written = await store.create(record());
  const wakeUps = recordingWakeUps();
  const deps = { cluster: { name: cluster }, store, wakeUps, now: () => NOW } as unknown as LifecycleDeps;
  const wait = (known: NodeClaimRecord | undefined) =>
    requeueAt({ wakeAt: HELD_UNTIL, polls: POLLS, waitsFor: "replacements" }, name, known, deps);
  /** The polls that are not stale: those for the time that the record says. */
  const valid = async () => {
    const dueAt = (await store.get(cluster, name))?.dueAt;
    return wakeUps.sent.filter((sent) => sent.kind === "claim" && sent.isPoll === true && sent.dueAt === dueAt).length;
  };
  return { written, wait, valid };
}

it("a wait for a fixed time that is written again ends its earlier polls", async () => {
  const { wait, valid } = await stored();
  for (let i = 0; i < 5; i++) await wait(undefined);
  expect(await valid()).toBe(POLLS.length);
});

it("of reconciles at one moment one alone sends polls that count", async () => {
  const { written, wait, valid } = await stored();
  await Promise.all([1, 2, 3, 4, 5].map(() => wait(written)));
  expect(await valid()).toBe(POLLS.length);
});
