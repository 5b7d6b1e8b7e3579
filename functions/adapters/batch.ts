import type { SQSBatchResponse, SQSEvent, SQSRecord } from "aws-lambda";
import type { Log } from "../../core/ports/log.ts";

/** A message that nobody can ever handle. The sentence says what is wrong with it; the message is logged and acknowledged. */
export class MalformedMessageError extends Error {
  override readonly name = "MalformedMessageError";
}

/** True when the record is done with, false when it shall come again. Never throws. */
async function handled(record: SQSRecord, handle: (body: string, record: SQSRecord) => Promise<void>, log: Log): Promise<boolean> {
  try {
    await handle(record.body, record);
    return true;
  } catch (error) {
    if (error instanceof MalformedMessageError) {
      log.error("dropping a message that cannot be read", { messageId: record.messageId, error });
      return true;
    }
    log.error("handling a message failed, it will be tried again", {
      messageId: record.messageId,
      attempt: Number(record.attributes.ApproximateReceiveCount),
      error,
    });
    return false;
  }
}

/**
 * Handles every record of a standard queue, all at once. Those that fail return to the queue, the rest are acknowledged;
 * a MalformedMessageError is logged and counts as handled.
 */
export async function eachRecord(
  event: SQSEvent,
  handle: (body: string, record: SQSRecord) => Promise<void>,
  log: Log,
): Promise<SQSBatchResponse> {
  const done = await Promise.all(event.Records.map(async (record) => handled(record, handle, log)));
  // Records not listed here are deleted by Lambda.
  return { batchItemFailures: event.Records.filter((_, i) => !done[i]).map(({ messageId }) => ({ itemIdentifier: messageId })) };
}

/**
 * Handles the records of a FIFO queue: groups at the same time, each group in order. After a group's first failure its later
 * records go back untouched, or their order would be lost.
 */
export async function eachRecordInOrder(
  event: SQSEvent,
  handle: (body: string, record: SQSRecord) => Promise<void>,
  log: Log,
): Promise<SQSBatchResponse> {
  const groups = Map.groupBy(event.Records, ({ attributes }) => attributes.MessageGroupId ?? "");
  const returned = await Promise.all(
    [...groups.values()].map(async (records) => {
      for (const [i, record] of records.entries()) {
        if (!(await handled(record, handle, log))) {
          return records.slice(i);
        }
      }
      return [];
    }),
  );
  const failed = new Set(returned.flat().map(({ messageId }) => messageId));
  return {
    batchItemFailures: event.Records.filter(({ messageId }) => failed.has(messageId)).map(({ messageId }) => ({
      itemIdentifier: messageId,
    })),
  };
}
