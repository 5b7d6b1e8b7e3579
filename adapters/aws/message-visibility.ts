import { ChangeMessageVisibilityCommand, type SQSClient } from "@aws-sdk/client-sqs";
import type { ChangeVisibility } from "../lambda/batch.ts";

/** Changes when messages of the queue at this URL are visible again. */
export const sqsVisibility =
  (client: SQSClient, url: string | undefined): ChangeVisibility =>
  async ({ receiptHandle }, seconds) => {
    if (url === undefined) throw new Error("The function does not know the URL of its queue.");
    await client.send(new ChangeMessageVisibilityCommand({ QueueUrl: url, ReceiptHandle: receiptHandle, VisibilityTimeout: seconds }));
  };
