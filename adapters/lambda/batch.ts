import { BatchProcessor, EventType, processPartialResponse, SqsFifoPartialProcessorAsync } from "@aws-lambda-powertools/batch";
import type { SQSBatchResponse, SQSEvent, SQSRecord } from "aws-lambda";
import type { Log } from "#core/ports/log.ts";
import { retryAfterSeconds } from "#core/ports/wake-ups.ts";

/** A message that can never be handled; the sentence says why. It is logged and acknowledged. */
export class MalformedMessageError extends Error {
  override readonly name = "MalformedMessageError";
}

type Handle = (body: string, record: SQSRecord) => Promise<void>;

/** Makes a message that an invocation has received visible again after so many seconds. */
export type ChangeVisibility = (record: Pick<SQSRecord, "receiptHandle" | "messageId">, seconds: number) => Promise<void>;

/** What failures of a queue's messages are reported by, and tried again by. */
export interface BatchDeps {
  readonly log: Log;
  readonly changeVisibility: ChangeVisibility;
}

/** Logs why a record failed, and acknowledges a record that would fail again. */
function reporting(handle: Handle, log: Log): (record: SQSRecord) => Promise<void> {
  return async (record) => {
    try {
      await handle(record.body, record);
    } catch (error) {
      if (error instanceof MalformedMessageError) {
        log.error("dropping a message that cannot be read", { messageId: record.messageId, error });
        return;
      }
      log.error(FAILED, { messageId: record.messageId, attempt: attemptOf(record), error });
      throw error;
    }
  };
}

/** The log line of an attempt that is not the last. */
export const FAILED = "handling a message failed, it will be tried again";

const attemptOf = ({ attributes }: SQSRecord): number => Number(attributes.ApproximateReceiveCount);

/**
 * Makes the records that return visible again after 2, 4, 8 … 30 s. Where that fails, and after an invocation that was
 * killed, the queue's own time-out brings them back.
 */
async function backOff(records: readonly SQSRecord[], response: SQSBatchResponse, { log, changeVisibility }: BatchDeps): Promise<void> {
  const returned = new Set(response.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
  const changes = records
    .filter(({ messageId }) => returned.has(messageId))
    .map(async (record) => {
      try {
        await changeVisibility(record, retryAfterSeconds(attemptOf(record)));
      } catch (error) {
        log.error("a message that failed returns only after the queue's visibility time-out", { messageId: record.messageId, error });
      }
    });
  await Promise.all(changes);
}

// A batch that fails as a whole is an ordinary answer: an exception would hide which messages it contained.
const OPTIONS = { throwOnFullBatchFailure: false };

/**
 * Handles all records of a standard queue at once. Those that fail return to the queue, the rest are acknowledged; a
 * MalformedMessageError is logged and counts as handled.
 */
export async function eachRecord(event: SQSEvent, handle: Handle, deps: BatchDeps): Promise<SQSBatchResponse> {
  if (event.Records.length === 0) return { batchItemFailures: [] };
  const processor = new BatchProcessor(EventType.SQS);
  const response = (await processPartialResponse(event, reporting(handle, deps.log), processor, OPTIONS)) as SQSBatchResponse;
  await backOff(event.Records, response, deps);
  return response;
}

/**
 * Handles the records of a FIFO queue: those of one message group one after the other, all groups at once. After the
 * first failure of a group its later records return to the queue untouched, to keep their order.
 */
export async function eachRecordInOrder(event: SQSEvent, handle: Handle, deps: BatchDeps): Promise<SQSBatchResponse> {
  const groups = Map.groupBy(event.Records, ({ attributes }) => attributes.MessageGroupId);
  const inGroup = async (Records: SQSRecord[]): Promise<SQSBatchResponse> => {
    const processor = new SqsFifoPartialProcessorAsync();
    const response = (await processPartialResponse({ Records }, reporting(handle, deps.log), processor, OPTIONS)) as SQSBatchResponse;
    await backOff(Records, response, deps);
    return response;
  };
  const responses = await Promise.all([...groups.values()].map(inGroup));
  return { batchItemFailures: responses.flatMap(({ batchItemFailures }) => batchItemFailures) };
}
