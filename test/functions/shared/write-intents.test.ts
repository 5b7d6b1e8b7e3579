import { expect, it } from "vitest";
import { embeddedNodeClaimStore } from "#adapters/store/embedded-store.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import { writeIntents } from "#functions/shared/write-intents.ts";
import { bigRecord } from "../../bench/big-record.ts";
import { recordingWakeUps } from "../../support/fakes.ts";

const CLUSTER = "c1";
const cluster = { name: CLUSTER, endpoint: "", caBundle: "" };

const intents = (count: number): readonly NodeClaimRecord[] =>
  Array.from({ length: count }, (_, i) => bigRecord(i, { cluster: CLUSTER, at: 0, nodes: count, pods: count }));

it("of 250 NodeClaims the first are woken before the last are written", async () => {
  const table = embeddedNodeClaimStore();
  const written: number[] = [];
  const wakeUps = recordingWakeUps();
  const wake: typeof wakeUps.wake = async (list) => {
    written.push((await table.list(CLUSTER)).length);
    await wakeUps.wake(list);
  };
  const lease = await table.acquireLease(CLUSTER, "h", 0, 60_000);
  if (lease === undefined) throw new Error("no lease");
  await writeIntents(lease, { records: intents(250), history: [] }, { cluster, store: table, wakeUps: { wake } });
  expect(written).toEqual([99, 198, 250]);
  expect(wakeUps.sent).toHaveLength(250);
  table.close();
});

it("NodeClaims that were written before the lease was lost are woken", async () => {
  const table = embeddedNodeClaimStore();
  const wakeUps = recordingWakeUps();
  const lease = await table.acquireLease(CLUSTER, "h", 0, 1_000);
  if (lease === undefined) throw new Error("no lease");
  const wake: typeof wakeUps.wake = async (list) => {
    await wakeUps.wake(list);
    await table.acquireLease(CLUSTER, "another", 2_000, 1_000);
  };
  const writing = writeIntents(lease, { records: intents(250), history: [] }, { cluster, store: table, wakeUps: { wake } });
  await expect(writing).rejects.toThrow();
  expect(wakeUps.sent).toHaveLength((await table.list(CLUSTER)).length);
  expect(wakeUps.sent).toHaveLength(99);
  table.close();
});
