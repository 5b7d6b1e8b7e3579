import type { SQSBatchResponse, SQSEvent } from "aws-lambda";
import { eachRecord } from "../adapters/batch.ts";
import { type InterruptDeps, interrupt } from "./interrupt.ts";

/** Messages of the interruption queue, as EventBridge puts them there. */
export const interruptionEntry =
  (deps: InterruptDeps) =>
  (event: SQSEvent): Promise<SQSBatchResponse> =>
    eachRecord(event, (body) => interrupt(body, deps), deps.log);
