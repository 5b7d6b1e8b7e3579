import { BatchProcessor, EventType, processPartialResponse, SqsFifoPartialProcessorAsync } from "@aws-lambda-powertools/batch";
import type { SQSBatchResponse, SQSEvent, SQSRecord } from "aws-lambda";
import type { Log } from "#core/ports/log.ts";

/** A message that can never be handled; the sentence says why. It is logged and acknowledged. */
export class MalformedMessageError extends Error {
  override readonly name = "MalformedMessageError";
}

type Handle = (body: string, record: SQSRecord) => Promise<void>;

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
      const attempt = Number(record.attributes.ApproximateReceiveCount);
      log.error("handling a message failed, it will be tried again", { messageId: record.messageId, attempt, error });
      throw error;
    }
  };
}

// A batch that fails as a whole is an ordinary answer: an exception would hide which messages it contained.
const OPTIONS = { throwOnFullBatchFailure: false };

/**
 * Handles all records of a standard queue at once. Those that fail return to the queue, the rest are acknowledged; a
 * MalformedMessageError is logged and counts as handled.
 */
export async function eachRecord(event: SQSEvent, handle: Handle, log: Log): Promise<SQSBatchResponse> {
  if (event.Records.length === 0) return { batchItemFailures: [] };
  const processor = new BatchProcessor(EventType.SQS);
  return (await processPartialResponse(event, reporting(handle, log), processor, OPTIONS)) as SQSBatchResponse;
}

/**
 * Handles the records of a FIFO queue: those of one message group one after the other, all groups at once. After the
 * first failure of a group its later records return to the queue untouched, to keep their order.
 */
export async function eachRecordInOrder(event: SQSEvent, handle: Handle, log: Log): Promise<SQSBatchResponse> {
  const groups = Map.groupBy(event.Records, ({ attributes }) => attributes.MessageGroupId);
  const inGroup = async (Records: SQSRecord[]): Promise<SQSBatchResponse> =>
    (await processPartialResponse({ Records }, reporting(handle, log), new SqsFifoPartialProcessorAsync(), OPTIONS)) as SQSBatchResponse;
  const responses = await Promise.all([...groups.values()].map(inGroup));
  return { batchItemFailures: responses.flatMap(({ batchItemFailures }) => batchItemFailures) };
}
