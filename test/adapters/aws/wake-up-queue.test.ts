import { SendMessageBatchCommand, SQSClient } from "@aws-sdk/client-sqs";
import { mockClient } from "aws-sdk-client-mock";
import { beforeEach, describe, expect, it } from "vitest";
import { parseWakeUp, sqsWakeUps, wakeUpBody } from "#adapters/aws/wake-up-queue.ts";
import { MalformedMessageError } from "#adapters/lambda/batch.ts";
import type { WakeUp } from "#core/ports/wake-ups.ts";

const queues = { provision: "https://q/provision.fifo", claim: "https://q/claims", disruption: "https://q/disruption" };
const sqs = mockClient(SQSClient);
const wakeUps = (now = 1_700_000_000_999) => sqsWakeUps({ queues, now: () => now, client: new SQSClient({ region: "us-west-2" }) });
const sent = () => sqs.commandCalls(SendMessageBatchCommand).map(({ args }) => args[0].input);
const claim = (name: string, delayMs?: number): WakeUp => ({
  ...{ kind: "claim", cluster: "c1", claim: name },
  ...(delayMs !== undefined && { delayMs }),
});

beforeEach(() => {
  sqs.reset();
  sqs.on(SendMessageBatchCommand).resolves({ Successful: [], Failed: [] });
});

describe("sqsWakeUps", () => {
  it("sends provision to a group per cluster, deduplicated by the second and not by the reason", async () => {
    await wakeUps().wake([
      { kind: "provision", cluster: "c1", cause: "NodePoolReady", detail: "a" },
      { kind: "provision", cluster: "c1", cause: "PodsUnschedulable", detail: "1" },
      { kind: "provision", cluster: "c2", cause: "PodsComing" },
    ]);
    await wakeUps(1_700_000_001_000).wake([{ kind: "provision", cluster: "c1", cause: "PodsComing" }]);
    expect(sent()).toEqual([
      {
        QueueUrl: queues.provision,
        Entries: [
          {
            Id: "0",
            MessageBody: '{"kind":"provision","cluster":"c1","cause":"NodePoolReady","detail":"a","reason":"NodePool a is ready"}',
            MessageGroupId: "c1",
            MessageDeduplicationId: "c1-1700000000",
          },
          {
            Id: "1",
            MessageBody: '{"kind":"provision","cluster":"c2","cause":"PodsComing","reason":"pods are coming"}',
            MessageGroupId: "c2",
            MessageDeduplicationId: "c2-1700000000",
          },
        ],
      },
      { QueueUrl: queues.provision, Entries: [expect.objectContaining({ MessageDeduplicationId: "c1-1700000001" })] },
    ]);
  });

  it("a message that the queue would drop as a duplicate is not sent, unless the first one was refused", async () => {
    let now = 1_700_000_000_000;
    const one = sqsWakeUps({ queues, now: () => now, client: new SQSClient({ region: "us-west-2" }) });
    const plan: WakeUp = { kind: "provision", cluster: "c1", cause: "PodsUnschedulable", detail: "1" };
    sqs.on(SendMessageBatchCommand).rejectsOnce(new Error("no network")).resolves({ Successful: [], Failed: [] });
    await expect(one.wake([plan])).rejects.toThrow("no network");
    for (const at of [200, 400, 999, 1_000, 1_600]) {
      now = 1_700_000_000_000 + at;
      await one.wake([plan, { ...plan, delayMs: 60_000 }]);
    }
    await one.wake([{ ...plan, cluster: "c2" }]);
    const groups = sent().flatMap(({ Entries = [] }) => Entries.flatMap(({ MessageDeduplicationId }) => MessageDeduplicationId ?? "later"));
    expect(groups.filter((id) => id !== "later")).toEqual(["c1-1700000000", "c1-1700000000", "c1-1700000001", "c2-1700000001"]);
    expect(groups.filter((id) => id === "later")).toHaveLength(5);
  });

  it.for([
    { delayMs: 0, queue: queues.provision },
    { delayMs: 1_000, queue: queues.provision },
    { delayMs: 1_001, queue: queues.claim, want: 1 },
    { delayMs: 9_500, queue: queues.claim, want: 9 },
  ])("a plan for $delayMs ms later goes where messages can wait", async ({ delayMs, queue, want }) => {
    await wakeUps().wake([{ kind: "provision", cluster: "c1", cause: "PodsWaiting", delayMs }]);
    expect(sent().map(({ QueueUrl, Entries }) => [QueueUrl, Entries?.[0]?.DelaySeconds])).toEqual([[queue, want]]);
    expect(parseWakeUp(sent()[0]?.Entries?.[0]?.MessageBody ?? "")).toEqual({ kind: "provision", cluster: "c1", cause: "PodsWaiting" });
  });

  it("a plan for later is not folded with a plan for now", async () => {
    await wakeUps().wake([
      { kind: "provision", cluster: "c1", cause: "PodsWaiting", delayMs: 10_000 },
      { kind: "provision", cluster: "c1", cause: "PodsComing" },
    ]);
    expect(sent().map(({ QueueUrl }) => QueueUrl)).toEqual([queues.claim, queues.provision]);
  });

  it.for([
    { delayMs: undefined, want: 0 },
    { delayMs: 0, want: 0 },
    { delayMs: 1, want: 1 },
    { delayMs: 15_000, want: 15 },
    { delayMs: 3_600_000, want: 900 },
    { delayMs: -5_000, want: 0 },
  ])("holds a claim's message back $want s for $delayMs ms", async ({ delayMs, want }) => {
    await wakeUps().wake([claim("a", delayMs)]);
    expect(sent()[0]?.Entries).toEqual([
      { Id: "0", MessageBody: '{"kind":"claim","cluster":"c1","claim":"a"}', MessageGroupId: "c1", DelaySeconds: want },
    ]);
  });

  it("has the cluster as the group of each message, so that standard queues are fair to clusters", async () => {
    await wakeUps().wake([
      { kind: "sweep", cluster: "a" },
      { kind: "disruption", cluster: "b", cause: "Sweep" },
      { kind: "provision", cluster: "c", cause: "PodsWaiting", delayMs: 10_000 },
    ]);
    const groups = sent().flatMap(({ Entries = [] }) => Entries.map(({ MessageGroupId }) => MessageGroupId));
    expect(groups.sort()).toEqual(["a", "b", "c"]);
  });

  it("folds equal wake-ups into the soonest", async () => {
    await wakeUps().wake([
      claim("a", 60_000),
      claim("a", 5_000),
      claim("b"),
      claim("a", 9_000),
      { kind: "disruption", cluster: "c1", cause: "Due" },
    ]);
    const byQueue = Object.fromEntries(sent().map(({ QueueUrl, Entries }) => [QueueUrl, Entries?.map(({ DelaySeconds }) => DelaySeconds)]));
    expect(byQueue).toEqual({ [queues.claim]: [5, 0], [queues.disruption]: [0] });
  });

  it("keeps the polls of a wait, one a second, beside the wake-up at its end", async () => {
    const poll = (delayMs: number): WakeUp => ({ kind: "claim", cluster: "c1", claim: "a", dueAt: 9, isPoll: true, delayMs });
    await wakeUps().wake([poll(1_000), poll(1_600), poll(2_000), { kind: "claim", cluster: "c1", claim: "a", dueAt: 9, delayMs: 3_000 }]);
    const entries = sent().flatMap(({ Entries = [] }) => Entries);
    expect(entries.map(({ DelaySeconds }) => DelaySeconds)).toEqual([1, 2, 3]);
    expect(entries.map(({ MessageBody = "" }) => "isPoll" in parseWakeUp(MessageBody))).toEqual([true, true, false]);
  });

  it("sends at most ten a call, each once", async () => {
    await wakeUps().wake(Array.from({ length: 23 }, (_, i) => claim(`n${i}`)));
    expect(sent().map(({ Entries }) => Entries?.length)).toEqual([10, 10, 3]);
    const bodies = sent().flatMap(({ Entries }) => Entries?.map(({ MessageBody }) => MessageBody));
    expect(new Set(bodies).size).toBe(23);
  });

  it("sends again what the queue failed to take, and only that", async () => {
    sqs
      .on(SendMessageBatchCommand)
      .resolvesOnce({ Successful: [], Failed: [{ Id: "1", Code: "InternalError", SenderFault: false }] })
      .resolves({ Successful: [], Failed: [] });
    await wakeUps().wake([claim("a"), claim("b")]);
    expect(sent().map(({ Entries }) => Entries?.map(({ Id }) => Id))).toEqual([["0", "1"], ["1"]]);
  });

  it("throws what the queue will never take", async () => {
    sqs.on(SendMessageBatchCommand).resolves({
      Successful: [],
      Failed: [{ Id: "0", Code: "InvalidMessageContents", Message: "bad character", SenderFault: true }],
    });
    await expect(wakeUps().wake([claim("a")])).rejects.toThrow(
      "Queue https://q/claims refused a wake-up: InvalidMessageContents bad character",
    );
    expect(sent()).toHaveLength(1);
  });

  it("says which variable is missing", async () => {
    await expect(wakeUps().wake([{ kind: "catalog", cluster: "c1", cause: "ObjectChanged", detail: "nodepools/a" }])).rejects.toThrow(
      /^CATALOG_QUEUE_URL: is missing/,
    );
  });

  it("sends nothing for nothing", async () => {
    await wakeUps().wake([]);
    expect(sent()).toEqual([]);
  });
});

describe("parseWakeUp", () => {
  it.for<WakeUp>([
    { kind: "provision", cluster: "c1", cause: "PodsUnschedulable", detail: "3" },
    { kind: "provision", cluster: "c1", cause: "PodsComing" },
    { kind: "disruption", cluster: "c1", cause: "PodsMoved" },
    { kind: "catalog", cluster: "c1", cause: "ObjectChanged", detail: "nodepools/a" },
    { kind: "catalog", cluster: "c1", cause: "Sweep" },
    { kind: "claim", cluster: "c1", claim: "n", dueAt: 5 },
    { kind: "claim", cluster: "c1", claim: "n", dueAt: 5, isPoll: true },
    { kind: "sweep", cluster: "c1" },
  ])("reads back a $kind wake-up, without what it does not know", (wakeUp) => {
    expect(parseWakeUp(JSON.stringify({ ...JSON.parse(wakeUpBody(wakeUp)), future: 1 }))).toEqual(wakeUp);
  });

  it.for([
    { cause: "NodePoolResized", detail: "a", reason: "NodePool a has another size" },
    { cause: "constructor", reason: "NodePool a has another size" },
    { cause: "NodePoolReady", reason: "NodePool a has another size" },
  ])("takes a wake-up of a newer version, $cause, by its text", (fields) => {
    expect(parseWakeUp(JSON.stringify({ kind: "provision", cluster: "c1", ...fields }))).toEqual({
      ...{ kind: "provision", cluster: "c1" },
      ...{ cause: "Unknown", detail: "NodePool a has another size" },
    });
  });

  it.for([
    { body: "{", says: 'A wake-up must be JSON, not "{".' },
    { body: "null", says: 'A wake-up must have "kind": provision, disruption, catalog, claim or sweep; this one is "null".' },
    { body: '{"kind":"x"}', says: /^A wake-up must have "kind"/ },
    { body: '{"kind":"claim","cluster":"c1"}', says: /^A wake-up must have a text in "claim"/ },
    { body: '{"kind":"provision","cluster":"","reason":"r"}', says: /^A wake-up must have a text in "cluster"/ },
    { body: `{"kind":"${"x".repeat(500)}"}`, says: /…"\.$/ },
  ])("says what is wrong with $body", ({ body, says }) => {
    expect(() => parseWakeUp(body)).toThrow(MalformedMessageError);
    expect(() => parseWakeUp(body)).toThrow(says);
  });
});
