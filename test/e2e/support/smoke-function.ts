import { request } from "node:https";
import { setTimeout as sleep } from "node:timers/promises";
import { DynamoDBClient, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { Sha256 } from "@smithy/core/checksum";
import { HttpRequest } from "@smithy/protocol-http";
import { SignatureV4 } from "@smithy/signature-v4";

/**
 * The function of smoke.ts. It stores each event in a table, so that the smoke test sees the event, its source and its
 * caller. `{"cluster": …}` makes it list the namespaces of the cluster, `{"send": url}` send a message.
 */
export async function handler(event: SmokeEvent): Promise<unknown> {
  console.log(JSON.stringify({ kind: kindOf(event) }));
  if (event.cluster !== undefined) {
    return await namespaces(event.cluster);
  }
  if (event.send !== undefined) {
    return (await new SQSClient({}).send(new SendMessageCommand({ QueueUrl: event.send, MessageBody: "sent by the function" }))).MessageId;
  }
  if (event.Records?.some((record) => record.body === "slow") === true) {
    await sleep(1_500);
  }
  for (const [i, detail] of detailsOf(event).entries()) {
    await new DynamoDBClient({}).send(
      new PutItemCommand({
        TableName: "smoke",
        Item: {
          kind: { S: kindOf(event) },
          id: { S: `${Date.now()}-${i}-${Math.random()}` },
          detail: { S: detail },
          function: { S: process.env["AWS_LAMBDA_FUNCTION_NAME"] ?? "" },
          accessKeyId: { S: process.env["AWS_ACCESS_KEY_ID"] ?? "" },
          node: { S: process.version },
        },
      }),
    );
  }
  const refused = (event.Records ?? []).filter(
    (record) => record.body.startsWith("refuse") && Number(record.attributes.ApproximateReceiveCount) < 2,
  );
  return event.Records === undefined
    ? { statusCode: 200, body: "noted" }
    : { batchItemFailures: refused.map(({ messageId }) => ({ itemIdentifier: messageId })) };
}

type SmokeEvent = {
  readonly cluster?: { readonly server: string; readonly ca: string; readonly name: string };
  readonly send?: string;
  readonly awslogs?: { readonly data: string };
  readonly Records?: readonly {
    readonly messageId: string;
    readonly body: string;
    readonly attributes: { readonly ApproximateReceiveCount: string };
  }[];
  readonly requestContext?: unknown;
  readonly body?: string;
};

function kindOf(event: SmokeEvent): string {
  if (event.awslogs !== undefined) {
    return "logs";
  }
  if (event.Records !== undefined) {
    return "sqs";
  }
  return event.requestContext !== undefined ? "url" : "other";
}

function detailsOf(event: SmokeEvent): string[] {
  return event.awslogs?.data !== undefined
    ? [event.awslogs.data]
    : (event.Records?.map((record) => JSON.stringify(record)) ?? [JSON.stringify(event)]);
}

/** Calls kube-apiserver with an EKS token, as the product does. */
async function namespaces({ server, ca, name }: { server: string; ca: string; name: string }): Promise<unknown> {
  const env = process.env;
  const region = env["AWS_REGION"] ?? "";
  const hostname = `sts.${region}.amazonaws.com`;
  const signer = new SignatureV4({
    credentials: {
      accessKeyId: env["AWS_ACCESS_KEY_ID"] ?? "",
      secretAccessKey: env["AWS_SECRET_ACCESS_KEY"] ?? "",
      sessionToken: env["AWS_SESSION_TOKEN"] ?? "",
    },
    region,
    service: "sts",
    sha256: Sha256,
  });
  const signed = await signer.presign(
    new HttpRequest({
      method: "GET",
      protocol: "https:",
      hostname,
      path: "/",
      query: { Action: "GetCallerIdentity", Version: "2011-06-15" },
      headers: { host: hostname, "x-k8s-aws-id": name },
    }),
    { expiresIn: 60 },
  );
  const query = new URLSearchParams(signed.query as Record<string, string>);
  const token = `k8s-aws-v1.${Buffer.from(`https://${hostname}/?${query}`).toString("base64url")}`;
  return await new Promise((resolve, reject) => {
    request(`${server}/api/v1/namespaces`, { ca: Buffer.from(ca, "base64"), headers: { authorization: `Bearer ${token}` } }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (data: string) => {
        text += data;
      });
      response.on("end", () => resolve({ status: response.statusCode, body: text.slice(0, 500) }));
    })
      .on("error", reject)
      .end();
  });
}
