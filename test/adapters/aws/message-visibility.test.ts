import { ChangeMessageVisibilityCommand, SQSClient } from "@aws-sdk/client-sqs";
import { mockClient } from "aws-sdk-client-mock";
import { expect, it } from "vitest";
import { sqsVisibility } from "#adapters/aws/message-visibility.ts";

const sqs = mockClient(SQSClient);

it("asks the function's own queue for the message by its receipt handle", async () => {
  await sqsVisibility(new SQSClient({ region: "us-west-2" }), "https://sqs/claims")({ messageId: "m1", receiptHandle: "r1" }, 8);
  expect(sqs.commandCalls(ChangeMessageVisibilityCommand).map(({ args }) => args[0].input)).toEqual([
    { QueueUrl: "https://sqs/claims", ReceiptHandle: "r1", VisibilityTimeout: 8 },
  ]);
});

it("without the queue's URL, which the settings of an older stack lack, it fails and asks nobody", async () => {
  sqs.resetHistory();
  await expect(
    sqsVisibility(new SQSClient({ region: "us-west-2" }), undefined)({ messageId: "m1", receiptHandle: "r1" }, 8),
  ).rejects.toThrow(/URL/);
  expect(sqs.commandCalls(ChangeMessageVisibilityCommand)).toEqual([]);
});
