import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";

/**
 * Lambda's side of one execution environment, by the Runtime API (2018-06-01): delivers events one at a time and
 * receives the answers.
 */
export interface RuntimeApi {
  /** `127.0.0.1:port`, as AWS_LAMBDA_RUNTIME_API has it. */
  readonly address: string;
  /**
   * The time (performance.now()) of the first request for an event, when init is over. Rejects with the error of a
   * failed init.
   */
  readonly ready: Promise<number>;
  /** Delivers an event; resolves with the answer and its time, rejects with the function's error. */
  invoke(event: unknown): Promise<{ readonly at: number; readonly answer: unknown }>;
  close(): Promise<void>;
}

/** Longer than any function's timeout here. */
const DEADLINE_MS = 60_000;

/** Starts the API for one environment on a free port of 127.0.0.1. */
export async function startRuntimeApi(functionArn: string): Promise<RuntimeApi> {
  const ready = Promise.withResolvers<number>();
  const asked = Promise.withResolvers<ServerResponse>();
  let waiting = asked;
  let answer = Promise.withResolvers<{ at: number; answer: unknown }>();
  let requests = 0;

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const at = performance.now();
    const path = request.url?.replace("/2018-06-01/runtime/", "") ?? "";
    if (path === "invocation/next") {
      ready.resolve(at);
      waiting.resolve(response);
      return;
    }
    const body = await json(request).catch(() => undefined);
    response.writeHead(202).end("{}");
    if (path === "init/error") ready.reject(new Error(`init failed: ${wording(body)}`));
    else if (path.endsWith("/error")) answer.reject(new Error(wording(body)));
    else answer.resolve({ at, answer: body });
  };

  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => ready.reject(error));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A caller may await only one of the two promises, so neither may be an unhandled rejection.
  ready.promise.catch(() => {});
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    ready: ready.promise,
    async invoke(event) {
      const response = await waiting.promise;
      waiting = Promise.withResolvers();
      answer = Promise.withResolvers();
      requests += 1;
      response.writeHead(200, {
        "content-type": "application/json",
        "lambda-runtime-aws-request-id": `00000000-0000-0000-0000-${String(requests).padStart(12, "0")}`,
        "lambda-runtime-deadline-ms": String(Date.now() + DEADLINE_MS),
        "lambda-runtime-invoked-function-arn": functionArn,
      });
      response.end(JSON.stringify(event));
      return answer.promise;
    },
    async close() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function wording(body: unknown): string {
  const { errorType = "Error", errorMessage = "no message" } = (body ?? {}) as { errorType?: string; errorMessage?: string };
  return `${errorType}: ${errorMessage}`;
}
