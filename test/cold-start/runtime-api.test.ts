import { afterEach, describe, expect, it } from "vitest";
import { type RuntimeApi, startRuntimeApi } from "./runtime-api.ts";

const started: RuntimeApi[] = [];
afterEach(async () => {
  await Promise.all(started.splice(0).map((api) => api.close()));
});

async function api() {
  const made = await startRuntimeApi("arn:aws:lambda:us-west-2:111122223333:function:f");
  started.push(made);
  const call = (path: string, body?: object) =>
    fetch(`http://${made.address}/2018-06-01/runtime/${path}`, body && { method: "POST", body: JSON.stringify(body) });
  return { ...made, call };
}

describe("the Runtime API", () => {
  it("the Runtime API is ready at the first request, delivers the event and receives the answer", async () => {
    const { ready, invoke, call } = await api();
    const asked = call("invocation/next");
    expect(await ready).toBeGreaterThan(0);
    const invoked = invoke({ kind: "sweep" });
    const event = await asked;
    expect(await event.json()).toEqual({ kind: "sweep" });
    expect(event.headers.get("lambda-runtime-invoked-function-arn")).toMatch(/:function:f$/);
    expect(Number(event.headers.get("lambda-runtime-deadline-ms"))).toBeGreaterThan(Date.now());
    await call(`invocation/${event.headers.get("lambda-runtime-aws-request-id")}/response`, { done: true });
    expect((await invoked).answer).toEqual({ done: true });
  });

  it("an invocation that fails is reported with its error, and the next one succeeds", async () => {
    const { invoke, call } = await api();
    const first = call("invocation/next");
    const failed = invoke({});
    const id = (await first).headers.get("lambda-runtime-aws-request-id");
    const rejected = expect(failed).rejects.toThrow("TypeError: no such thing");
    await call(`invocation/${id}/error`, { errorType: "TypeError", errorMessage: "no such thing" });
    await rejected;
    const second = call("invocation/next");
    const succeeded = invoke({});
    expect((await second).headers.get("lambda-runtime-aws-request-id")).not.toBe(id);
    await call("invocation/2/response", {});
    expect((await succeeded).answer).toEqual({});
  });

  it("an init that fails is reported with its error", async () => {
    const { ready, call } = await api();
    await call("init/error", { errorType: "ConfigError", errorMessage: "TABLE_NAME: is missing" });
    await expect(ready).rejects.toThrow("init failed: ConfigError: TABLE_NAME: is missing");
  });
});
