import { createServer, request as forward, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { recordWire } from "../support/wire-log.ts";
import { dynamodbQuestions } from "./dynamodb-questions.ts";
import { type Ledger, wordRefusal } from "./ledger.ts";
import type { Place } from "./template-policies.ts";

/** A proxy before DynamoDB Local, which has no IAM: it forwards the requests that the callers' roles allow. */
export interface DynamoDbGate {
  readonly url: string;
  readonly stop: () => Promise<void>;
}

/** Starts a gate on 127.0.0.1 for the database at `target`. */
export async function startDynamoDbGate(options: {
  readonly target: string;
  readonly ledger: Ledger;
  readonly place: Place;
}): Promise<DynamoDbGate> {
  const { target, ledger, place } = options;
  const server = createServer((request, response) => {
    pass(request, response).catch((error: unknown) => {
      response.writeHead(502).end(`The gate failed: ${error instanceof Error ? error.message : String(error)}`);
    });
  });

  async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    recordWire(request, body);
    const accessKey = /Credential=([^/]+)\//.exec(request.headers.authorization ?? "")?.[1] ?? "";
    const action = String(request.headers["x-amz-target"]).split(".")[1] ?? "";
    const refusal =
      ledger.nameOf(accessKey) && ledger.judge(accessKey, dynamodbQuestions(action, JSON.parse(body.toString("utf8")), place));
    if (refusal) {
      const __type = "com.amazon.coral.service#AccessDeniedException";
      response.writeHead(400, { "content-type": "application/x-amz-json-1.0" });
      response.end(JSON.stringify({ __type, message: `User: ${wordRefusal(refusal)}` }));
      return;
    }
    const { method, headers, url } = request;
    const onward = forward(new URL(url ?? "/", target), { ...(method && { method }), headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on("error", () => response.destroy());
    // When a function is killed, its request is cancelled.
    response.on("close", () => onward.destroy());
    onward.end(body);
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
