import { describe, expect, it } from "vitest";
import { kubernetesClient } from "#adapters/kubernetes/client.ts";
import type { ApiRequest, ApiResponse } from "#adapters/kubernetes/transport.ts";
import { memoryLog } from "#adapters/telemetry/log.ts";
import type { Node } from "#core/model/node.ts";
import type { Pod } from "#core/model/pod.ts";

/** A client whose server gives these answers in turn, and what it was asked. */
function asking(...answers: readonly (ApiResponse | Error)[]) {
  const asked: ApiRequest[] = [];
  const log = memoryLog();
  const client = kubernetesClient({
    kubeconfig: "none",
    log,
    now: () => Date.UTC(2026, 0, 2, 3, 4, 5, 678),
    transport: async (request) => {
      asked.push(request);
      const next = answers[asked.length - 1] ?? new Error("one call too many");
      if (next instanceof Error) {
        throw next;
      }
      return next;
    },
  });
  return { client, asked, log };
}

const status = (code: number, message = "no", reason = "") => ({ status: code, body: { kind: "Status", code, message, reason } });
const unknown = { status: 404, body: "404 page not found\n" };
const node: Node = { metadata: { name: "n1", resourceVersion: "7" }, spec: {} };
const pod: Pod = { metadata: { name: "p", namespace: "ns", uid: "u" }, spec: {} };

describe("get", () => {
  it("get returns the object, or undefined", async () => {
    const { client, asked } = asking({ status: 200, body: node }, status(404));
    expect(await client.get("Node", "n1")).toEqual(node);
    expect(await client.get("Pod", "p", "ns")).toBeUndefined();
    expect(asked.map(({ path }) => path)).toEqual(["/api/v1/nodes/n1", "/api/v1/namespaces/ns/pods/p"]);
  });

  it("get distinguishes a missing kind from a missing object", async () => {
    await expect(asking(unknown).client.get("NodePool", "x")).rejects.toThrow(
      "The cluster has no NodePool resources (nodepools, karpenter.sh/v1); install the custom resource definitions with: kubectl apply -f infra/crds.",
    );
  });
});

describe("list", () => {
  const page = (names: string[], next?: string): ApiResponse => ({
    status: 200,
    body: { metadata: next === undefined ? {} : { continue: next }, items: names.map((name) => ({ metadata: { name } })) },
  });

  it("list reads all pages, with its selectors on each", async () => {
    const { client, asked } = asking(page(["a", "b"], "t1"), page([], "t2"), page(["c"]));
    const namespaces = await client.list("Namespace", { labelSelector: "x=y" });
    expect(namespaces.map(({ metadata }) => metadata.name)).toEqual(["a", "b", "c"]);
    expect(asked.map(({ path, query }) => [path, query?.["continue"], query?.["limit"], query?.["labelSelector"]])).toEqual([
      ["/api/v1/namespaces", undefined, "500", "x=y"],
      ["/api/v1/namespaces", "t1", "500", "x=y"],
      ["/api/v1/namespaces", "t2", "500", "x=y"],
    ]);
  });

  it("list starts over when a continuation has expired, and keeps nothing of the first try", async () => {
    const { client } = asking(page(["a"], "t1"), status(410), page(["b"], "t2"), page(["c"]));
    expect((await client.list("Namespace")).map(({ metadata }) => metadata.name)).toEqual(["b", "c"]);
  });

  it("list gives up when continuations keep expiring", async () => {
    const answers = Array.from({ length: 8 }, (_, i) => (i % 2 === 0 ? page(["a"], "t") : status(410)));
    await expect(asking(...answers).client.list("Namespace")).rejects.toMatchObject({ name: "ThrottledError" });
  });

  it("an unknown kind throws a sentence that names what to install", async () => {
    await expect(asking(unknown).client.list("EC2NodeClass")).rejects.toThrow(
      /^The cluster has no EC2NodeClass resources .* kubectl apply -f infra\/crds\.$/,
    );
  });

  it("missing rights throw a sentence that names them", async () => {
    const forbidden = status(403, 'nodes is forbidden: User "x" cannot list resource "nodes"');
    await expect(asking(forbidden).client.list("Node")).rejects.toThrow(/^listing nodes: nodes is forbidden: .*; apply infra\/rbac/);
  });
});

describe("writes", () => {
  it("the refusal of a policy is told without the remedy for missing rights", async () => {
    const denied = status(403, 'nodes "n1" is forbidden: ValidatingAdmissionPolicy "p" denied request: no');
    await expect(asking(denied).client.create("Node", node)).rejects.toThrow(/denied request: no$/);
  });

  it.for([
    { code: 404, name: "NotFoundError" },
    { code: 409, name: "ConflictError" },
    { code: 429, name: "ThrottledError" },
    { code: 500, name: "ThrottledError" },
    { code: 503, name: "ThrottledError" },
    { code: 400, name: "RefusedError" },
    { code: 422, name: "RefusedError" },
    { code: 401, name: "RefusedError" },
    { code: 403, name: "RefusedError" },
  ])("status $code becomes a $name with the server's message", async ({ code, name }) => {
    await expect(asking(status(code, "because")).client.update("Node", node)).rejects.toMatchObject({
      name,
      message: expect.stringMatching(/^updating Node n1: because/),
    });
    await expect(asking(status(code)).client.create("Node", node)).rejects.toMatchObject({ name });
  });

  it("update sends the object with kind and version, without managedFields", async () => {
    const { client, asked } = asking({ status: 200, body: node }, { status: 200, body: node }, { status: 201, body: node });
    const managed = { ...node, metadata: { ...node.metadata, managedFields: [{}] } };
    await client.update("Node", managed);
    await client.updateStatus("Node", node);
    await client.create("Pod", pod);
    expect(asked.map(({ method, path }) => `${method} ${path}`)).toEqual([
      "PUT /api/v1/nodes/n1",
      "PUT /api/v1/nodes/n1/status",
      "POST /api/v1/namespaces/ns/pods",
    ]);
    expect(asked[0]?.body).toEqual({ apiVersion: "v1", kind: "Node", metadata: { name: "n1", resourceVersion: "7" }, spec: {} });
  });

  it("delete has a UID precondition, and returns false for a missing or another object", async () => {
    const { client, asked } = asking({ status: 200, body: {} }, status(404), status(409));
    expect(await client.delete("Pod", "p", { namespace: "ns", uid: "u", gracePeriodSeconds: 0 })).toBe(true);
    expect(await client.delete("Node", "n1")).toBe(false);
    expect(await client.delete("Node", "n1", { uid: "u" })).toBe(false);
    expect(asked[0]).toMatchObject({
      method: "DELETE",
      path: "/api/v1/namespaces/ns/pods/p",
      body: { preconditions: { uid: "u" }, gracePeriodSeconds: 0 },
    });
    await expect(asking(status(409)).client.delete("Node", "n1")).rejects.toMatchObject({ name: "ConflictError" });
  });

  it("delete returns the object that its finalizers keep", async () => {
    const metadata = { ...node.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" };
    const kept = { ...node, metadata: { ...metadata, finalizers: ["karpenter.sh/termination"] } };
    expect(await asking({ status: 200, body: kept }).client.delete("Node", "n1")).toEqual(kept);
    // What has gone at once is told by a Status, or as it was last.
    for (const body of [{ kind: "Status", metadata: {}, status: "Success" }, { ...node, metadata }, undefined])
      expect(await asking({ status: 200, body }).client.delete("Node", "n1")).toBe(true);
  });
});

describe("evict", () => {
  it.for([
    { answer: status(201), want: "evicted" },
    { answer: status(200), want: "evicted" },
    { answer: status(404), want: "gone" },
    { answer: status(409, "the UID in the precondition (u) does not match"), want: "gone" },
    { answer: status(429, "Cannot evict pod as it would violate the pod's disruption budget."), want: "blocked" },
    {
      answer: status(500, "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."),
      want: "blocked",
    },
  ] as const)("takes $answer.status for $want", async ({ answer, want }) => {
    const { client, asked } = asking(answer);
    expect(await client.evict(pod)).toBe(want);
    expect(asked).toEqual([
      {
        method: "POST",
        path: "/api/v1/namespaces/ns/pods/p/eviction",
        body: {
          apiVersion: "policy/v1",
          kind: "Eviction",
          metadata: { name: "p", namespace: "ns" },
          deleteOptions: { preconditions: { uid: "u" } },
        },
      },
    ]);
  });

  it("evict throws any other failure", async () => {
    await expect(asking(status(500, "etcd is down")).client.evict(pod)).rejects.toMatchObject({
      name: "ThrottledError",
      message: "evicting pod ns/p: etcd is down",
    });
  });
});

describe("nominate", () => {
  const read: Pod = { ...pod, metadata: { ...pod.metadata, resourceVersion: "7" } };

  it("nominate patches the nominated node alone, of the pod as it was read", async () => {
    const { client, asked } = asking(status(200));
    await client.nominate(read, "n1");
    expect(asked).toEqual([
      {
        method: "PATCH",
        path: "/api/v1/namespaces/ns/pods/p/status",
        body: { metadata: { uid: "u", resourceVersion: "7" }, status: { nominatedNodeName: "n1" } },
      },
    ]);
  });

  it("nominate throws ConflictError when the pod has changed since it was read", async () => {
    await expect(asking(status(409)).client.nominate(read, "n1")).rejects.toMatchObject({ name: "ConflictError" });
  });
});

describe("publish", () => {
  const event = {
    type: "Normal",
    reason: "Nominated",
    message: "m".repeat(2_000),
    about: { kind: "NodeClaim", metadata: { name: "c", uid: "u" } },
  } as const;

  it("publish writes an event that kubectl describe finds, cut to the API's limit", async () => {
    const { client, asked } = asking(status(201));
    await client.publish(event);
    expect(asked[0]).toMatchObject({
      method: "POST",
      path: "/api/v1/namespaces/default/events",
      body: {
        involvedObject: { apiVersion: "karpenter.sh/v1", kind: "NodeClaim", name: "c", uid: "u" },
        reason: "Nominated",
        type: "Normal",
        source: { component: "karpenter" },
        reportingComponent: "karpenter",
        firstTimestamp: "2026-01-02T03:04:05Z",
        count: 1,
      },
    });
    expect((asked[0]?.body as { message: string } | undefined)?.message).toHaveLength(1_024);
  });

  it("an event that cannot be written is logged, and publish does not throw", async () => {
    const { client, log } = asking(status(403, "forbidden"), new Error("no network"));
    await client.publish(event);
    await client.publish(event);
    expect(log.records.map(({ message }) => message)).toEqual(["could not publish an event", "could not publish an event"]);
  });
});

it.for([
  { major: "1", minor: "36+", want: "1.36" },
  { major: "1", minor: "35", want: "1.35" },
])("the server's version is $want", async ({ major, minor, want }) => {
  expect(await asking({ status: 200, body: { major, minor } }).client.version()).toBe(want);
});
