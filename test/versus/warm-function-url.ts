import { join } from "node:path";
import { FUNCTIONS, type FunctionName } from "#infra/functions.ts";
import { awsRequest } from "../e2e/support/aws-call.ts";
import { freePort, startChild } from "../e2e/support/child.ts";
import type { TestCluster } from "../e2e/support/cluster.ts";
import type { FunctionUrlGateway } from "../e2e/support/function-url.ts";
import { wholeLines } from "../e2e/support/growing-log.ts";
import type { MiniStack } from "../e2e/support/ministack.ts";

/** A function behind its URL, in one process that stays warm. */
export interface WarmFunctionUrl extends FunctionUrlGateway {
  readonly pid: number;
  /** Its log so far. */
  readonly logFile: string;
  /** The time of each invocation so far, ms. */
  readonly durationsMs: () => readonly number[];
}

/**
 * A function URL that does not pass through MiniStack, which starts a process for each call of a burst and takes 140 ms
 * of CPU for it: on Lambda other machines do this work, here it would be taken from kube-scheduler. The function is the
 * deployed bundle with the variables of its deployment. It has the account's own key, because the end-to-end run shows
 * that its role suffices.
 */
export async function startWarmFunctionUrl(options: {
  readonly name: FunctionName;
  readonly functionName: string;
  readonly bundles: string;
  readonly ministack: MiniStack;
  readonly dynamodbUrl: string;
  readonly cluster: TestCluster;
  readonly dataDir: string;
}): Promise<WarmFunctionUrl> {
  const { name, functionName, bundles, ministack, dynamodbUrl, cluster, dataDir } = options;
  const text = await awsRequest(ministack, "lambda", { method: "GET", path: `/2015-03-31/functions/${functionName}/configuration` });
  const { Environment } = JSON.parse(text) as { readonly Environment: { readonly Variables: Readonly<Record<string, string>> } };
  const port = await freePort();
  const logFile = join(dataDir, `${name}.log`);
  const { accessKeyId, secretAccessKey } = ministack.credentials;
  const child = await startChild({
    name: `The ${name} function`,
    command: process.execPath,
    args: [join(import.meta.dirname, "warm-function-url-server.ts"), join(bundles, name, "index.mjs"), String(port)],
    logFile,
    env: {
      ...Environment.Variables,
      ...{ PATH: process.env["PATH"], AWS_REGION: ministack.region, AWS_ENDPOINT_URL: ministack.url },
      ...{ AWS_ENDPOINT_URL_DYNAMODB: dynamodbUrl, AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey },
      ...{ AWS_LAMBDA_FUNCTION_NAME: functionName, AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(FUNCTIONS[name].memory) },
      ...{ TLS_CERT: cluster.tls.cert, TLS_KEY: cluster.tls.key },
    },
    isReady: async () => wholeLines(logFile).includes("listening"),
  });
  return {
    ...{ url: `https://127.0.0.1:${port}`, caBundle: cluster.caData, pid: child.pid, logFile, stop: child.stop },
    durationsMs: () => wholeLines(logFile).flatMap((line) => /^REPORT Duration: (\d+) ms/.exec(line)?.slice(1).map(Number) ?? []),
  };
}
