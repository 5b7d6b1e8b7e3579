// The interruption function: acts on EC2's notices about instances. In: EventBridge events on the interruption queue.
// Out: unavailable offerings and terminating NodeClaims in the store, Kubernetes events, wake-ups. It terminates no
// instance itself; the lifecycle function does.

import type { SQSBatchResponse, SQSEvent } from "aws-lambda";
import { eachRecord } from "../adapters/batch.ts";
import { type InterruptDeps, interrupt } from "./interrupt.ts";

/** Handles the messages that EventBridge puts on the interruption queue. */
export const interruptionEntry =
  (deps: InterruptDeps) =>
  (event: SQSEvent): Promise<SQSBatchResponse> =>
    eachRecord(event, (body, { eventSourceARN }) => interrupt(body, accountOf(eventSourceARN), deps), deps.log);

/** The account in the queue's ARN, which is the account of the functions. */
function accountOf(queueArn: string): string | undefined {
  return /^arn:[^:]*:sqs:[^:]*:(\d{12}):/.exec(queueArn)?.[1];
}
