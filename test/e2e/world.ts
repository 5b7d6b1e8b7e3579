import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DynamoDBClient, paginateScan } from "@aws-sdk/client-dynamodb";
import { bundleFunctions, type Deployment, startDeployment } from "./deployment.ts";
import { startDynamoDbGate } from "./iam/dynamodb-gate.ts";
import { type Ledger, ledger, wordRefusal } from "./iam/ledger.ts";
import { questionsOf } from "./iam/questions.ts";
import { policiesByFunction } from "./iam/template-policies.ts";
import { ACCOUNT, CLUSTER, REGION, type Stage, startStage } from "./stage.ts";
import { removeDir } from "./support/child.ts";
import { deployedFunctions } from "./support/deploy.ts";

/** What a story uses: the API server, the deployed functions with their queues and table, and the fake EC2. */
export interface E2eWorld extends Stage, Deployment {
  /**
   * The functions' AWS calls, authorized by their roles' policies: a call without permission is refused and recorded.
   */
  readonly permissions: Ledger;
  /** The number of items of the table whose sort key begins with `prefix`. */
  items(prefix: string): Promise<number>;
}

/** @param others names of further clusters that the stack serves */
export async function startWorld(others: readonly string[] = []): Promise<E2eWorld> {
  const dataDir = mkdtempSync(join(tmpdir(), "karpenter-serverless-e2e-"));
  const permissions = ledger();
  const stage = await startStage({
    ...{ dataDir, others },
    readyAfter: "1s",
    aws: {
      ...(others.length > 0 && { roles: [CLUSTER, ...others].map((name) => `KarpenterNodeRole-${name}`) }),
      bootDelayMs: 1_000,
      terminateDelayMs: 1_000,
      // EC2 gives two minutes. A busy machine may need more; the story prints the time that it took.
      noticeMs: 15 * 60_000,
      identify: (accessKey) => permissions.nameOf(accessKey) ?? accessKey,
      authorize(call, world) {
        const refusal = permissions.judge(call.accessKey, questionsOf(world, call));
        return refusal && wordRefusal(refusal);
      },
      onEvent: async (event) => {
        await deployment.putEvents([event]).catch((error: unknown) => stage.bootFailures.set("PutEvents", String(error)));
      },
    },
  });
  const place = { account: ACCOUNT, region: REGION };
  const deployment = await startDeployment({
    stage,
    bundles: await bundleFunctions(join(dataDir, "dist")),
    gateOf: ({ url }) => startDynamoDbGate({ target: url, ledger: permissions, place }),
    onDeployed: async (template, ministack, names) => {
      const policies = policiesByFunction(template, place, names);
      permissions.know(
        (await deployedFunctions(ministack)).map(({ name, credentials: { accessKeyId } }) => ({
          ...{ name, accessKey: accessKeyId, statements: policies.get(name) ?? [] },
        })),
      );
    },
  });
  const table = new DynamoDBClient({
    endpoint: deployment.dynamodb.url,
    region: REGION,
    credentials: { accessKeyId: "local", secretAccessKey: "local" },
  });
  return {
    ...{ ...stage, ...deployment, permissions },
    async items(prefix) {
      // The catalogue alone may fill a page, so all pages are read.
      let found = 0;
      for await (const { Items = [] } of paginateScan(
        { client: table },
        { TableName: deployment.outputs["TableName"], ProjectionExpression: "sk" },
      )) {
        found += Items.filter(({ sk }) => sk?.S?.startsWith(prefix)).length;
      }
      return found;
    },
    async stop() {
      const stopped = await Promise.allSettled([stage.stop(), deployment.stop()]);
      removeDir(dataDir);
      for (const outcome of stopped) if (outcome.status === "rejected") throw outcome.reason;
    },
  };
}
