import { describe, expect, it } from "vitest";
import { clusterToken, fixedToken } from "#adapters/lambda/path-token.ts";
import { admissionEntry } from "#functions/admission/entry.ts";
import { nodeClass, nodePool } from "../../infra/crd-samples.ts";
import { recordingLog } from "../../support/fakes.ts";

const SECRET = "0123456789abcdef0123";
const TOKEN = clusterToken(SECRET, "c1");
type Fields = Readonly<Record<string, unknown>>;

/** A request of the function URL, as Lambda gives it. */
async function post(path: string, body: string, isBase64Encoded = false) {
  const log = recordingLog();
  const handler = admissionEntry({
    log,
    isToken: fixedToken(SECRET),
    isServed: async (cluster: string) => cluster === "c1",
    gates: { NodeOverlay: false, StaticCapacity: false },
  });
  const result = await handler({ rawPath: path, body, isBase64Encoded } as Parameters<typeof handler>[0]);
  if (typeof result === "string") throw new Error("the answer has no status code");
  return { statusCode: result.statusCode, body: JSON.parse(result.body ?? ""), errors: log.errors };
}

async function ask(duty: string, request: Fields) {
  const kind = duty === "convert" ? "ConversionReview" : "AdmissionReview";
  const { statusCode, body } = await post(`/v1/c1/${TOKEN}/${duty}`, JSON.stringify({ kind, request: { uid: "u-1", ...request } }));
  expect(statusCode).toBe(200);
  expect(body.kind).toBe(kind);
  expect(body.response.uid).toBe("u-1");
  return body.response;
}

const badBudget = { spec: { disruption: { consolidateAfter: "0s", budgets: [{ nodes: "1", schedule: "61 * * * *", duration: "1h" }] } } };

describe("defaulting", () => {
  it("defaults are returned as a JSON Patch", async () => {
    const response = await ask("default", {
      operation: "CREATE",
      object: nodePool({ spec: { disruption: { consolidationPolicy: "WhenEmpty" } } }),
    });
    expect(response).toMatchObject({ allowed: true, patchType: "JSONPatch" });
    expect(JSON.parse(Buffer.from(response.patch, "base64").toString())).toContainEqual({
      op: "add",
      path: "/spec/disruption/consolidateAfter",
      value: "0s",
    });
  });

  it.for([{ object: { kind: "NodePool", spec: 3 } }, { object: null }, {}])("defaulting never refuses: %j", async (request) => {
    expect(await ask("default", request)).toEqual({ uid: "u-1", allowed: true });
  });
});

describe("validation", () => {
  it("a valid object is allowed", async () => {
    expect(await ask("validate", { operation: "CREATE", object: nodeClass({}), oldObject: null })).toEqual({ uid: "u-1", allowed: true });
  });

  it("an invalid object is refused with all reasons at once", async () => {
    const { allowed, status } = await ask("validate", { object: nodePool({ ...badBudget, template: { expireAfter: "9999999h" } }) });
    expect(allowed).toBe(false);
    expect(status).toMatchObject({ code: 422, reason: "Invalid" });
    expect(status.message).toMatch(/expireAfter.*; .*no cron expression/);
  });

  it("what was invalid before is a warning, in texts that the API server accepts", async () => {
    const object = nodePool(badBudget);
    const { allowed, warnings } = await ask("validate", { object, oldObject: object });
    expect(allowed).toBe(true);
    expect(warnings).toHaveLength(1);
    const stranger = { group: "x.io", kind: "K".repeat(300), name: "a" };
    const long = await ask("validate", { object: nodePool({ template: { nodeClassRef: stranger } }) });
    expect(long.warnings[0]).toHaveLength(256);
  });

  it("kubelet settings of a v1beta1 NodePool are warned about, because they have no effect", async () => {
    const annotations = { "compatibility.karpenter.sh/v1beta1-kubelet-conversion": '{"maxPods":20}' };
    const object = { ...nodePool({}), metadata: { name: "sample", annotations } };
    const { allowed, warnings } = await ask("validate", { object });
    expect(allowed).toBe(true);
    expect(warnings.join()).toContain("kubelet");
  });

  it("fields behind a feature gate that is off are warned about", async () => {
    const { allowed, warnings } = await ask("validate", { object: nodePool({ spec: { replicas: 3 } }) });
    expect(allowed).toBe(true);
    expect(warnings).toEqual([expect.stringContaining("feature gate StaticCapacity is off")]);
  });

  it("a deletion is allowed", async () => {
    expect(await ask("validate", { operation: "DELETE", object: null, oldObject: nodePool(badBudget) })).toEqual({
      uid: "u-1",
      allowed: true,
    });
  });
});

describe("conversion", () => {
  const old = {
    apiVersion: "karpenter.sh/v1beta1",
    kind: "NodePool",
    metadata: { name: "default", uid: "7", labels: { a: "b" } },
    spec: {
      disruption: { consolidationPolicy: "WhenUnderutilized", expireAfter: "Never" },
      template: { spec: { nodeClassRef: { name: "default" }, requirements: [] } },
    },
  };

  it("each object of a conversion review is converted", async () => {
    const { result, convertedObjects } = await ask("convert", { desiredAPIVersion: "karpenter.sh/v1", objects: [old, nodePool({})] });
    expect(result).toEqual({ status: "Success" });
    expect(convertedObjects).toHaveLength(2);
    expect(convertedObjects[0]).toMatchObject({
      apiVersion: "karpenter.sh/v1",
      metadata: { name: "default", uid: "7", labels: { a: "b" } },
      spec: {
        disruption: { consolidationPolicy: "WhenEmptyOrUnderutilized", consolidateAfter: "0s" },
        template: { spec: { expireAfter: "Never", nodeClassRef: { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" } } },
      },
    });
  });

  it("objects in the wanted version are returned unchanged", async () => {
    const there = await ask("convert", { desiredAPIVersion: "karpenter.sh/v1", objects: [old] });
    const back = await ask("convert", { desiredAPIVersion: "karpenter.sh/v1beta1", objects: there.convertedObjects });
    expect(back.convertedObjects[0].spec).toEqual(old.spec);
  });

  it("a conversion review fails as a whole, with a sentence, when one object cannot be converted", async () => {
    const response = await ask("convert", { desiredAPIVersion: "karpenter.sh/v2", objects: [old] });
    expect(response.convertedObjects).toBeUndefined();
    expect(response.result).toEqual({ status: "Failure", message: expect.stringMatching(/v2/) });
  });
});

describe("strangers and strange requests", () => {
  const request = JSON.stringify({ request: { uid: "u-1" } });

  it.for([
    { name: "a wrong token", path: "/v1/c1/0123456789abcdef9999/validate", body: request, status: 403 },
    { name: "no token", path: "/v1/c1//validate", body: request, status: 403 },
    { name: "an unknown duty", path: `/v1/c1/${TOKEN}/delete`, body: request, status: 403 },
    { name: "no duty", path: `/v1/c1/${TOKEN}`, body: request, status: 403 },
    { name: "an unknown cluster", path: `/v1/c2/${clusterToken(SECRET, "c2")}/validate`, body: request, status: 404 },
    { name: "no JSON", path: `/v1/c1/${TOKEN}/validate`, body: "hello", status: 400 },
    { name: "no request", path: `/v1/c1/${TOKEN}/validate`, body: "{}", status: 400 },
    { name: "a request without a uid", path: `/v1/c1/${TOKEN}/convert`, body: '{"request":{}}', status: 400 },
  ])("a bad request is refused with a sentence: $name", async ({ path, body, status }) => {
    const answer = await post(path, body);
    expect(answer.statusCode).toBe(status);
    expect(answer.body.message).toMatch(/\.$/);
  });

  it("a body in base64 is read", async () => {
    const body = Buffer.from(JSON.stringify({ request: { uid: "u-1", object: nodePool(badBudget) } })).toString("base64");
    expect((await post(`/v1/c1/${TOKEN}/validate`, body, true)).body.response.allowed).toBe(false);
  });

  it.for([
    { name: "a NodePool without spec", object: { kind: "NodePool" }, says: /^spec is missing; it must be an object$/ },
    { name: "a NodePool with an empty spec", object: { kind: "NodePool", spec: {} }, says: /^spec.template is missing/ },
    { name: "an EC2NodeClass whose spec is a text", object: { kind: "EC2NodeClass", spec: "x" }, says: /^spec has another type/ },
    { name: "a NodeOverlay without requirements", object: { kind: "NodeOverlay", spec: {} }, says: /^spec.requirements is missing/ },
  ])("a required part that is missing is named: $name", async ({ object, says }) => {
    const response = await ask("validate", { object: { metadata: { name: "a" }, ...object } });
    expect(response).toMatchObject({ allowed: false, status: { code: 422, message: expect.stringMatching(says) } });
  });

  it("an object that cannot be read is allowed with a warning, and logged", async () => {
    const object = nodePool({ spec: { disruption: { budgets: 5 } } } as never);
    const { statusCode, body, errors } = await post(`/v1/c1/${TOKEN}/validate`, JSON.stringify({ request: { uid: "u-1", object } }));
    expect(statusCode).toBe(200);
    expect(body.response).toMatchObject({ uid: "u-1", allowed: true, warnings: [expect.stringMatching(/^The object cannot be read/)] });
    expect(errors).toHaveLength(1);
  });
});
