// The interruption function: acts on EC2's notices about instances. In: EventBridge events on the interruption queue.
// Out: unavailable offerings and terminating NodeClaims in the store, Kubernetes events, wake-ups. It terminates no
// instance itself; the lifecycle function does.

import type { SQSBatchResponse, SQSEvent, SQSRecord } from "aws-lambda";
import { type BatchDeps, eachRecord } from "#adapters/lambda/batch.ts";
import type { Later } from "../shared/cluster-deps.ts";
import { type InvocationContext, inTime } from "../shared/in-time.ts";
import { type InterruptDeps, interrupt } from "./interrupt.ts";

/**
 * Handles the messages that EventBridge puts on the interruption queue. Of a batch, only the messages of a cluster that
 * fails or does not end in time return.
 */
export const interruptionEntry =
  (deps: InterruptDeps & BatchDeps & { readonly later: Later }) =>
  (event: SQSEvent, context?: InvocationContext): Promise<SQSBatchResponse> => {
    const handle = (body: string, { eventSourceARN }: SQSRecord): Promise<void> =>
      inTime(() => interrupt(body, accountOf(eventSourceARN), deps), context, deps.later);
    return eachRecord(event, handle, deps);
  };

/** The account in the queue's ARN, which is the account of the functions. */
function accountOf(queueArn: string): string | undefined {
  return /^arn:[^:]*:sqs:[^:]*:(\d{12}):/.exec(queueArn)?.[1];
}
