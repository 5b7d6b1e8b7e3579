import { PutItemCommand } from "@aws-sdk/client-dynamodb";
import { readRequestPace } from "#core/model/request-pace.ts";
import type { NodeClaimStore } from "#core/ports/node-claim-store.ts";
import { calling, conditionFailure, type Table, toItem, toValues } from "./dynamodb-table.ts";

/** A request to EC2 waits for the answer, and the pace of one function alone is better than none in time. */
const TIMEOUT_MS = 1_000;
/** A bucket that nobody has drawn from for a day is full; its item goes by TTL. */
const KEPT_SECONDS = 86_400;

/**
 * The buckets of requests, one item of some 150 bytes each: `pace#ACCOUNT/REGION/ACTION`. The item that is in the way
 * of a write comes back with the refusal, so that no read is needed. A write that the SDK repeats after a lost answer
 * is refused by the first, and what it drew is lost.
 */
export function dynamoRequestPace(table: Table): Pick<NodeClaimStore, "swapPace"> {
  return {
    async swapPace(bucket, pace) {
      const item = { pk: `pace#${bucket}`, sk: "pace", ...pace, version: pace.version + 1 };
      const input = {
        TableName: table.name,
        Item: toItem({ ...item, ttl: Math.ceil(pace.countedAt / 1_000) + KEPT_SECONDS }),
        ExpressionAttributeNames: { "#version": "version" },
        ...(pace.version === 0
          ? {
              ConditionExpression: "attribute_not_exists(#version) OR NOT attribute_type(#version, :number)",
              ExpressionAttributeValues: toValues({ ":number": "N" }),
            }
          : { ConditionExpression: "#version = :version", ExpressionAttributeValues: toValues({ ":version": pace.version }) }),
        ReturnValuesOnConditionCheckFailure: "ALL_OLD" as const,
      };
      try {
        const abortSignal = AbortSignal.timeout(TIMEOUT_MS);
        await calling(table, () => table.client.send(new PutItemCommand(input), { abortSignal }));
        return undefined;
      } catch (error) {
        const failure = conditionFailure(error);
        if (failure === undefined) throw error;
        return readRequestPace(failure.item) ?? "nothing";
      }
    },
  };
}
