import type { SQSEvent, SQSRecord } from "aws-lambda";
import { describe, expect, it } from "vitest";
import { eachRecord, eachRecordInOrder, MalformedMessageError } from "#adapters/lambda/batch.ts";
import { memoryLog } from "#adapters/telemetry/log.ts";

function record(messageId: string, body: string, group?: string): SQSRecord {
  return {
    messageId,
    receiptHandle: "r",
    body,
    attributes: {
      ApproximateReceiveCount: "2",
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

const ids = (response: { batchItemFailures: { itemIdentifier: string }[] }) =>
  response.batchItemFailures.map((failure) => failure.itemIdentifier);

describe("eachRecord", () => {
  it("failed records return to the queue; the rest and malformed ones are acknowledged", async () => {
    const { seen, handle } = recorder();
    const log = memoryLog();
    const event: SQSEvent = { Records: [record("1", "ok"), record("2", "fails"), record("3", "bad"), record("4", "ok too")] };
    expect(ids(await eachRecord(event, handle, log))).toEqual(["2"]);
    expect(seen).toHaveLength(4);
    expect(log.records.map(({ level, fields }) => [level, fields["messageId"], fields["error"]])).toEqual(
      expect.arrayContaining([
        ["error", "2", "network"],
        ["error", "3", "no JSON"],
      ]),
    );
  });

  it("no records, no failures", async () => {
    expect(await eachRecord({ Records: [] }, recorder().handle, memoryLog())).toEqual({ batchItemFailures: [] });
  });

  it("a record whose handler throws synchronously returns to the queue", async () => {
    const event: SQSEvent = { Records: [record("1", "x")] };
    const handle = (): Promise<void> => {
      throw new Error("at once");
    };
    expect(ids(await eachRecord(event, handle, memoryLog()))).toEqual(["1"]);
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
    expect(ids(await eachRecordInOrder(event, handle, memoryLog()))).toEqual(["a2", "a3"]);
    expect(seen.filter((body) => body.includes("b"))).toEqual(["ok b1", "bad", "ok b3"]);
    expect(seen).not.toContain("ok a3");
  });
});
