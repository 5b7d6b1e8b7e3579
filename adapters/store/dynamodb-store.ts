import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import type { NodeClaimStore } from "#core/ports/node-claim-store.ts";
import { type NodeClaimStoreOptions, nodeClaimStore } from "./node-claim-store.ts";
import { dynamoClient, dynamoTable } from "./table-dynamodb.ts";

/** The port NodeClaimStore on the DynamoDB table of this name. */
export const dynamoNodeClaimStore = ({
  tableName,
  client = dynamoClient(),
  ...options
}: NodeClaimStoreOptions & { readonly tableName: string; readonly client?: DynamoDBClient }): NodeClaimStore =>
  nodeClaimStore(dynamoTable({ name: tableName, client }), options);
