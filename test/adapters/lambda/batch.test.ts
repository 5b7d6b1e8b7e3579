import type { SQSEvent, SQSRecord } from "aws-lambda";
import { describe, expect, it } from "vitest";
import { type ChangeVisibility, eachRecord, eachRecordInOrder, MalformedMessageError } from "#adapters/lambda/batch.ts";
import { memoryLog } from "#adapters/telemetry/log.ts";

function record(messageId: string, body: string, group?: string, receives = 2): SQSRecord {
  return {
    messageId,
    receiptHandle: "r",
    body,
    attributes: {
      ApproximateReceiveCount: String(receives),
      SentTimestamp: "0",
      SenderId: "s",
      ApproximateFirstReceiveTimestamp: "0",
      ...(group !== undefined && { MessageGroupId: group }),
    },
    messageAttributes: {},
    md5OfBody: "",
    eventSource: "aws:sqs",
    eventSourceARN: "arn:aws:sqs:us-west-2:123456789012:q",
    awsRegion: "us-west-2",
  };
}

/** "ok…" succeeds, "bad…" is malformed, all else fails. */
function recorder() {
  const seen: string[] = [];
  const handle = async (body: string): Promise<void> => {
    seen.push(body);
    await Promise.resolve();
    if (body.startsWith("bad")) {
      throw new MalformedMessageError("no JSON");
    }
    if (!body.startsWith("ok")) {
      throw new Error("network");
    }
  };
  return { seen, handle };
}

function batchDeps() {
  const postponed: (readonly [string, number])[] = [];
  const changeVisibility: ChangeVisibility = async ({ messageId }, seconds) => void postponed.push([messageId, seconds]);
  return { log: memoryLog(), postponed, changeVisibility };
}

const ids = (response: { batchItemFailures: { itemIdentifier: string }[] }) =>
  response.batchItemFailures.map((failure) => failure.itemIdentifier);

describe("eachRecord", () => {
  it("failed records return to the queue; the rest and malformed ones are acknowledged", async () => {
    const { seen, handle } = recorder();
    const { log, postponed, ...deps } = batchDeps();
    const event: SQSEvent = { Records: [record("1", "ok"), record("2", "fails"), record("3", "bad"), record("4", "ok too")] };
    expect(ids(await eachRecord(event, handle, { ...deps, log }))).toEqual(["2"]);
    expect(postponed).toEqual([["2", 4]]);
    expect(seen).toHaveLength(4);
    expect(log.records.map(({ level, fields }) => [level, fields["messageId"], fields["error"]])).toEqual(
      expect.arrayContaining([
        ["error", "2", "network"],
        ["error", "3", "no JSON"],
      ]),
    );
  });

  it("a record that fails is visible again after 2, 4, 8 … 30 s", async () => {
    const { postponed, ...deps } = batchDeps();
    await eachRecord({ Records: [1, 2, 3, 4, 5, 12].map((n) => record(`${n}`, "fails", undefined, n)) }, recorder().handle, deps);
    expect(postponed.map(([, seconds]) => seconds)).toEqual([2, 4, 8, 16, 30, 30]);
  });

  it("a record returns when the queue cannot be told after how long, too", async () => {
    const deps = { ...batchDeps(), changeVisibility: () => Promise.reject(new Error("SQS does not answer")) };
    expect(ids(await eachRecord({ Records: [record("1", "fails")] }, recorder().handle, deps))).toEqual(["1"]);
    expect(deps.log.records.map(({ message }) => message)).toContain(
      "a message that failed returns only after the queue's visibility time-out",
    );
  });

  it("no records, no failures", async () => {
    expect(await eachRecord({ Records: [] }, recorder().handle, batchDeps())).toEqual({ batchItemFailures: [] });
  });

  it("a record whose handler throws synchronously returns to the queue", async () => {
    const event: SQSEvent = { Records: [record("1", "x")] };
    const handle = (): Promise<void> => {
      throw new Error("at once");
    };
    expect(ids(await eachRecord(event, handle, batchDeps()))).toEqual(["1"]);
  });
});

describe("eachRecordInOrder", () => {
  it("after a group's first failure its records return to the queue untouched, and other groups continue", async () => {
    const { seen, handle } = recorder();
    const event: SQSEvent = {
      Records: [
        record("a1", "ok a1", "a"),
        record("b1", "ok b1", "b"),
        record("a2", "fails", "a"),
        record("b2", "bad", "b"),
        record("a3", "ok a3", "a"),
        record("b3", "ok b3", "b"),
      ],
    };
    const { postponed, ...deps } = batchDeps();
    expect(ids(await eachRecordInOrder(event, handle, deps))).toEqual(["a2", "a3"]);
    expect(postponed).toEqual([
      ["a2", 4],
      ["a3", 4],
    ]);
    expect(seen.filter((body) => body.includes("b"))).toEqual(["ok b1", "bad", "ok b3"]);
    expect(seen).not.toContain("ok a3");
  });
});
