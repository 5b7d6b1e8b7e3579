import type { LambdaFunctionURLEvent } from "aws-lambda";
import { describe, expect, it } from "vitest";
import { clusterToken, fixedToken } from "#adapters/lambda/path-token.ts";
import type { WakeUps } from "#core/ports/wake-ups.ts";
import { notifyEntry } from "#functions/notify/entry.ts";
import { notify } from "#functions/notify/notify.ts";
import { record } from "../../support/builders.ts";
import { recordingLog, recordingWakeUps } from "../../support/fakes.ts";

const SECRET = "0123456789abcdef0123";
const TOKEN = clusterToken(SECRET, "c1");
const review = (request: object) => JSON.stringify({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", request });
const unschedulable = {
  uid: "u-1",
  operation: "CREATE",
  resource: { group: "events.k8s.io", version: "v1", resource: "events" },
  namespace: "default",
  name: "web.1",
  object: { reason: "FailedScheduling", regarding: { kind: "Pod", namespace: "default", name: "web" } },
};

/** @param failures how many of the first wake-ups the queue does not take */
async function post(path: string, body: string, failures = 0) {
  const wakeUps = recordingWakeUps();
  const log = recordingLog();
  let calls = 0;
  const queue: WakeUps = { wake: (asked) => (calls++ < failures ? Promise.reject(new Error("queue is gone")) : wakeUps.wake(asked)) };
  const deps = {
    store: { byInstance: async (id: string) => (id === "i-1" ? record({ name: "web-x7k2p" }) : undefined) },
    wakeUps: queue,
    log,
    isToken: fixedToken(SECRET),
    isServed: async (cluster: string) => cluster === "c1",
  };
  const response = await notify({ path, body }, deps);
  return { ...response, body: JSON.parse(response.body), sent: wakeUps.sent, errors: log.errors };
}

describe("the notify webhook", () => {
  it("a request is allowed and sends wake-ups", async () => {
    const { statusCode, body, sent } = await post(`/v1/c1/${TOKEN}`, review(unschedulable));
    expect(statusCode).toBe(200);
    expect(body.response).toEqual({ uid: "u-1", allowed: true });
    expect(sent).toEqual([{ kind: "provision", cluster: "c1", cause: "PodsUnschedulable", detail: "1" }]);
  });

  it("a cluster's own token is accepted for that cluster, and not for another", async () => {
    expect((await post(`/v1/c1/${TOKEN}`, review(unschedulable))).sent).toHaveLength(1);
    expect(await post(`/v1/c2/${TOKEN}`, review(unschedulable))).toMatchObject({ statusCode: 403, sent: [] });
  });

  it("a wake-up that the queue did not take is sent once more", async () => {
    expect(await post(`/v1/c1/${TOKEN}`, review(unschedulable), 1)).toMatchObject({ sent: [{ kind: "provision" }], errors: [] });
  });

  it("a request is allowed even when no wake-up can be sent, because the sweep will see the change", async () => {
    const { body, errors } = await post(`/v1/c1/${TOKEN}`, review(unschedulable), 2);
    expect(body.response.allowed).toBe(true);
    expect(errors).toHaveLength(1);
  });

  it.for([
    { resource: "nodeclaims", operation: "DELETE", want: { kind: "claim", cluster: "c1", claim: "it", delayMs: 1_000 } },
    { resource: "nodes", operation: "DELETE", want: { kind: "claim", cluster: "c1", claim: "web-x7k2p", about: "node", delayMs: 1_000 } },
    { resource: "nodes", operation: "UPDATE", want: { kind: "claim", cluster: "c1", claim: "web-x7k2p", about: "node" } },
    {
      resource: "nodepools",
      operation: "UPDATE",
      want: { kind: "catalog", cluster: "c1", cause: "ObjectChanged", detail: "nodepools/it", delayMs: 1_000 },
    },
  ])(
    "rings for $operation of $resource when it will have been written, unless it is looked for anyway",
    async ({ resource, operation, want }) => {
      const object = { spec: { providerID: "aws:///us-west-2a/i-1" } };
      const { sent } = await post(
        `/v1/c1/${TOKEN}`,
        review({ uid: "u-1", operation, resource: { resource }, name: "it", oldObject: object }),
      );
      expect(sent).toEqual([want]);
    },
  );

  it("a dry run sends no wake-up", async () => {
    expect((await post(`/v1/c1/${TOKEN}`, review({ ...unschedulable, dryRun: true }))).sent).toEqual([]);
  });

  it.for([
    { name: "a wrong token", path: "/v1/c1/0123456789abcdef9999", body: review(unschedulable), status: 403 },
    { name: "no token", path: "/v1/c1", body: review(unschedulable), status: 403 },
    { name: "an unknown cluster", path: `/v1/c2/${clusterToken(SECRET, "c2")}`, body: review(unschedulable), status: 404 },
    { name: "no JSON", path: `/v1/c1/${TOKEN}`, body: "hello", status: 400 },
    { name: "no review", path: `/v1/c1/${TOKEN}`, body: "{}", status: 400 },
  ])("$name is refused with a sentence", async ({ path, body, status }) => {
    const answer = await post(path, body);
    expect(answer.statusCode).toBe(status);
    expect(answer.body.message).toMatch(/\.$/);
    expect(answer.sent).toEqual([]);
  });

  it("a request is allowed whatever stands in its fields, and no wake-up carries what is no name", async () => {
    const full = { ...unschedulable, operation: "UPDATE", oldObject: {}, dryRun: false };
    const odd: unknown[] = [null, 7, true, "", [], [null], {}, { toString: 1 }, { resource: { toString: 1 } }, "x".repeat(1_000_000)];
    for (const resource of ["pods", "nodes", "events", "nodeclaims", "nodepools", "capacitybuffers"]) {
      for (const field of Object.keys(full).filter((name) => name !== "uid")) {
        for (const value of odd) {
          const request = { ...full, resource: { resource }, [field]: value };
          const { statusCode, sent } = await post(`/v1/c1/${TOKEN}`, review(request));
          expect({ field, statusCode, long: JSON.stringify(sent).length > 2_000 }).toEqual({ field, statusCode: 200, long: false });
        }
      }
    }
  });

  it.for([null, 7, {}, { rawPath: 7 }, { rawPath: `/v1/c1/${TOKEN}`, body: 7 }, { rawPath: `/v1/c1/${TOKEN}`, body: { toString: 1 } }])(
    "the call %j is refused with a sentence",
    async (event) => {
      const deps = {
        store: { byInstance: async () => undefined },
        wakeUps: recordingWakeUps(),
        log: recordingLog(),
        isToken: fixedToken(SECRET),
      };
      const handler = notifyEntry({ ...deps, isServed: async (cluster: string) => cluster === "c1" });
      const response = (await handler(event as unknown as LambdaFunctionURLEvent)) as { statusCode: number };
      expect([400, 403]).toContain(response.statusCode);
    },
  );
});
