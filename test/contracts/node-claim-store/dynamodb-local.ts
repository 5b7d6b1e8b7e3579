import { CreateTableCommand, DeleteTableCommand, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { metricSums } from "#adapters/store/metric-sums.ts";
import { nodeClaimStore } from "#adapters/store/node-claim-store.ts";
import { dynamoTable } from "#adapters/store/table-dynamodb.ts";
import { removeDir } from "../../e2e/support/child.ts";
import { startDynamoDbLocal } from "../../e2e/support/dynamodb-local.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { metricSumsContract } from "../metric-sums/contract.ts";
import { stackPriceContract } from "../stack-price/contract.ts";
import { nodeClaimStoreContract } from "./contract.ts";
import { tableContract } from "./table-contract.ts";

/**
 * Runs the contracts of the table, of the store, of the sums of metrics and of a stack's price cap on DynamoDB Local
 * and prints "N passed, N failed"; exits 1 when a case failed. An argument selects cases by name.
 */
const dataDir = temporaryFolder("dynamodb");
const dynamoDb = await startDynamoDbLocal({ dataDir });
const client = new DynamoDBClient({
  endpoint: dynamoDb.url,
  region: "us-west-2",
  credentials: { accessKeyId: "local", secretAccessKey: "local" },
});
let tables = 0;

async function makeTable() {
  const tableName = `karpenter-${++tables}`;
  await client.send(
    new CreateTableCommand({
      TableName: tableName,
      BillingMode: "PAY_PER_REQUEST",
      AttributeDefinitions: ["pk", "sk", "instanceId"].map((AttributeName) => ({ AttributeName, AttributeType: "S" })),
      KeySchema: [
        { AttributeName: "pk", KeyType: "HASH" },
        { AttributeName: "sk", KeyType: "RANGE" },
      ],
      GlobalSecondaryIndexes: [
        { IndexName: "byInstance", KeySchema: [{ AttributeName: "instanceId", KeyType: "HASH" }], Projection: { ProjectionType: "ALL" } },
      ],
    }),
  );
  return tableName;
}

async function openTable() {
  const tableName = await makeTable();
  return {
    store: dynamoTable({ name: tableName, client }),
    close: async () => {
      await client.send(new DeleteTableCommand({ TableName: tableName }));
    },
  };
}

async function open() {
  const { store: table, close } = await openTable();
  return { store: nodeClaimStore(table), close };
}

let [passed, failed] = [0, 0];
try {
  const sums = metricSumsContract(async () => metricSums((await openTable()).store));
  const cases = [
    ...tableContract("dynamodb", openTable),
    ...nodeClaimStoreContract("dynamodb", open),
    ...sums,
    ...stackPriceContract(open),
  ];
  for (const { name, run } of cases.filter(({ name }) => name.includes(process.argv[2] ?? ""))) {
    const start = performance.now();
    try {
      await run();
      passed++;
      console.log(`ok     ${name} (${Math.round(performance.now() - start)} ms)`);
    } catch (error) {
      failed++;
      console.log(`FAILED ${name}\n       ${(error as Error).stack ?? String(error)}`);
    }
  }
} finally {
  client.destroy();
  await dynamoDb.stop();
  removeDir(dataDir);
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
