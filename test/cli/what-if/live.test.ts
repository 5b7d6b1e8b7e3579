import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { bundledCatalogue } from "#adapters/catalogue/bundled.ts";
import { kubernetesClient } from "#adapters/kubernetes/client.ts";
import { readOnly } from "#adapters/kubernetes/read-only.ts";
import type { ApiRequest, ApiResponse, Transport } from "#adapters/kubernetes/transport.ts";
import { decisionSettingsOf } from "#cli/scenario/settings.ts";
import { clusterOfContext, liveSource, NO_STORE, readLiveSource } from "#cli/what-if/live.ts";
import { WHAT_IF_OPTIONS, WHAT_IF_SOURCE, whatIfOptions } from "#cli/what-if/options.ts";
import { reportTable } from "#cli/what-if/report.ts";
import { savedSource } from "#cli/what-if/save.ts";
import { answer } from "#cli/what-if/what-if.ts";
import { SCHEDULE } from "#core/model/labels.ts";
import type { EC2NodeClass } from "#core/model/node-class.ts";
import type { ClusterStateDeps } from "#functions/shared/cluster-state.ts";
import { ProcessMemory } from "#functions/shared/process-memory.ts";
import { DEFAULT_SETTINGS } from "#functions/wiring/settings.ts";
import { explained } from "#installer/account/kubeconfig.ts";
import type { Settings } from "#settings/setting-table.ts";
import { parseArguments } from "#terminal/command-line.ts";
import { machine, NOW, nodePool, pod } from "../../core/disruption/builders.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const optionsOf = (args: readonly string[]) =>
  whatIfOptions(parseArguments({ usage: "what-if", positionals: WHAT_IF_SOURCE, options: WHAT_IF_OPTIONS }, args));

const subnets = ["a", "b"].map((letter) => ({ id: `subnet-${letter}`, zone: `us-west-2${letter}`, zoneID: `usw2-az-${letter}` }));
const nodeClass: EC2NodeClass = {
  metadata: { name: "default" },
  spec: {
    role: "node",
    subnetSelectorTerms: [{ id: "subnet-a" }],
    securityGroupSelectorTerms: [{ id: "sg-1" }],
    amiSelectorTerms: [{ alias: "al2023@latest" }],
  },
  status: { subnets, amis: [{ id: "ami-1", requirements: [] }], conditions: [{ type: "Ready", status: "True" }] },
};

const { claim, node } = machine({ name: "n1", type: "m5.2xlarge" });
const labels = { "topology.kubernetes.io/zone": "us-west-2a" };
const zoned = <T extends { readonly metadata: object }>(object: T): T => {
  const metadata = object.metadata as { readonly labels?: object };
  return { ...object, metadata: { ...metadata, labels: { ...metadata.labels, ...labels } } };
};

const OBJECTS: Readonly<Record<string, readonly object[]>> = {
  "/api/v1/nodes": node ? [zoned(node)] : [],
  "/api/v1/pods": [pod("p", "n1")],
  "/apis/karpenter.sh/v1/nodeclaims": [zoned(claim)],
  "/apis/karpenter.sh/v1/nodepools": [nodePool()],
  "/apis/karpenter.k8s.aws/v1/ec2nodeclasses": [nodeClass],
};

/** An API server that records its requests; it has no NodeOverlays and no CapacityBuffers. */
function server(): { readonly asked: ApiRequest[]; readonly send: Transport } {
  const asked: ApiRequest[] = [];
  const send = async (request: ApiRequest): Promise<ApiResponse> => {
    asked.push(request);
    if (/nodeoverlays|capacitybuffers/.test(request.path)) return { status: 404, body: "404 page not found" };
    return { status: 200, body: { metadata: { resourceVersion: "1" }, items: OBJECTS[request.path] ?? [] } };
  };
  return { asked, send };
}

async function read(send: Transport, settings: Partial<Settings> = {}, store: ClusterStateDeps["store"] = NO_STORE) {
  const kubernetes = kubernetesClient({ kubeconfig: "none", transport: readOnly(send) });
  const catalogue = bundledCatalogue("us-west-2");
  const cluster = { name: "prod", endpoint: "", caBundle: "" };
  return await liveSource("cluster prod", {
    ...{ cluster, kubernetes, store, catalogue: async () => catalogue, settings: { ...DEFAULT_SETTINGS, ...settings } },
    ...{ memory: new ProcessMemory(), now: () => NOW },
  });
}

it("a live cluster is read, answered and saved with GET requests only", async () => {
  const { asked, send } = server();
  const source = await read(send);
  const options = optionsOf(["--context", "prod", "--family", "c7g", "--set", "ec2nodeclass/default.spec.kubelet.maxPods=8"]);
  const text = reportTable(answer(source, options));
  expect(text).toContain("cluster prod (1 node, prices of us-west-2");
  expect(text).toMatch(/default +m5\.2xlarge +on-demand +1 +0\.384/);
  expect(text).toMatch(/default +c7g\.large +spot .* 1 +0\.072/);
  expect(text).toContain("no spot prices are known here");
  expect(savedSource(source)["instanceTypes"]).not.toHaveLength(0);
  expect(asked.length).toBeGreaterThan(5);
  expect(new Set(asked.map(({ method }) => method))).toEqual(new Set(["GET"]));
  expect(asked.filter(({ body }) => body !== undefined)).toEqual([]);
  expect(asked.some(({ path }) => path.includes("secrets") || path.includes("configmaps"))).toBe(false);
});

it("a live cluster is read under the price caps and the schedule that are given as settings, and so saved", async () => {
  const given = decisionSettingsOf(["MAX_PRICE_PER_HOUR=prod=5,dev=1", "SLEEP_SCHEDULE=0 20 * * * for 10h"]);
  const { snapshot, ...source } = await read(server().send, given);
  expect(snapshot.priceCap).toEqual({ of: "cluster", perHour: 5, elsewhere: 0 });
  expect(snapshot.nodePools.map(({ metadata }) => metadata.annotations?.[SCHEDULE])).toEqual(["0 20 * * * for 10h"]);
  expect(savedSource({ snapshot, ...source })).toMatchObject({ maxPricePerHour: 5 });
});

it("under the cap of a stack, what its other clusters cost is read from the table", async () => {
  const prices = { dev: { perHour: 3, at: NOW }, prod: { perHour: 1, at: NOW } };
  const getDocument = async () => ({ version: "1", bytes: new TextEncoder().encode(JSON.stringify(prices)) });
  const source = await read(server().send, decisionSettingsOf(["STACK_MAX_PRICE_PER_HOUR=20"]), { ...NO_STORE, getDocument });
  expect(source.snapshot.priceCap).toEqual({ of: "stack", perHour: 20, elsewhere: 3 });
  expect(savedSource(source)).toMatchObject({ maxPricePerHour: 17 });
});

it("a cluster of a stack says first what holds it: pauses, and the circuit breaker", async () => {
  const at = NOW - 60_000;
  const open = { until: NOW + 60_000, trips: 1, why: "only 50 % are as well", moved: {}, pools: ["default"], reset: "" };
  const documents: Readonly<Record<string, object>> = {
    "pause/prod": { pause: { source: "table", at, by: "arn:aws:iam::1:user/ann", reason: "AMI" } },
    "circuit-breaker/prod": { moves: [], open: { "NodePool/default/Drifted": open }, proven: {}, lost: {} },
  };
  const getDocument = async (name: string) =>
    documents[name] && { version: "1", bytes: new TextEncoder().encode(JSON.stringify(documents[name])) };
  const { asked, send } = server();
  const none: Transport = async (request) => (request.path.includes("configmaps") ? { status: 404, body: "" } : send(request));
  const { remarks } = await read(none, {}, { ...NO_STORE, getDocument });
  expect(remarks.slice(0, 2)).toEqual([
    expect.stringMatching(/^disruption and launches are paused by arn:aws:iam::1:user\/ann since .*: AMI$/),
    expect.stringMatching(/^Disruption reason Drifted is held for NodePool\/default until \d\d:\d\d UTC: only 50 % are as well$/),
  ]);
  expect(new Set(asked.map(({ method }) => method))).toEqual(new Set(["GET"]));
});

it("settings name a cluster, and a context may be its ARN", () => {
  expect(clusterOfContext("arn:aws:eks:us-west-2:111122223333:cluster/prod")).toBe("prod");
  expect(clusterOfContext("kind-prod")).toBe("kind-prod");
});

it("every write to a live cluster is refused", async () => {
  const { asked, send } = server();
  const kubernetes = kubernetesClient({ kubeconfig: "none", transport: readOnly(send) });
  await expect(async () => kubernetes.create("NodePool", nodePool())).rejects.toThrow("this command only reads");
  await expect(async () => kubernetes.update("NodePool", nodePool())).rejects.toThrow("this command only reads");
  await expect(async () => kubernetes.updateStatus("NodePool", nodePool())).rejects.toThrow("this command only reads");
  await expect(async () => kubernetes.delete("Node", "n1")).rejects.toThrow("this command only reads");
  await expect(async () => kubernetes.evict(pod("p", "n1"))).rejects.toThrow("this command only reads");
  expect(asked).toEqual([]);
});

const config = join(temporaryFolder("what-if-live"), "config");
writeFileSync(
  config,
  JSON.stringify({
    ...{ apiVersion: "v1", kind: "Config", "current-context": "prod" },
    clusters: [{ name: "prod", cluster: { server: "https://127.0.0.1:1" } }],
    users: [{ name: "me", user: { token: "t" } }],
    contexts: [
      { name: "prod", context: { cluster: "prod", user: "me" } },
      { name: "stage", context: { cluster: "stage", user: "me" } },
    ],
  }),
);

const empty = join(temporaryFolder("what-if-live"), "empty");
writeFileSync(empty, JSON.stringify({ apiVersion: "v1", kind: "Config" }));

it.for<{ name: string; args: readonly string[]; says: string }>([
  {
    name: "a kubeconfig that is not there",
    args: ["--kubeconfig", "/no/such/config"],
    says: "there is no kubeconfig /no/such/config; write one with aws eks update-kubeconfig --name CLUSTER, or name another file with --kubeconfig",
  },
  {
    name: "a context that is not there",
    args: ["--kubeconfig", config, "--context", "prd"],
    says: `there is no context prd in ${config}; it has prod and stage: name one of these with --context`,
  },
  {
    name: "a kubeconfig without contexts",
    args: ["--kubeconfig", empty],
    says: `${empty} has no current context; it has no context: name one with --context`,
  },
  {
    name: "a context whose cluster is missing",
    args: ["--kubeconfig", config, "--context", "stage"],
    says: `context stage in ${config} names a cluster that is not in the file; `,
  },
  {
    name: "a server that refuses the connection",
    args: ["--kubeconfig", config],
    says: `https://127.0.0.1:1 refuses the connection; start that cluster, or correct the server of context prod in ${config}`,
  },
  {
    name: "a region without prices",
    args: ["--kubeconfig", config, "--region", "eu-west-9"],
    says: "types and prices of eu-west-9 do not come with the code",
  },
])("a live cluster that cannot be read is one sentence: $name", { timeout: 30_000 }, async ({ args, says }) => {
  await expect(readLiveSource(optionsOf(args))).rejects.toThrow(says);
});

const CLUSTER = { kubeconfig: "/kube/config", context: "prod", server: "https://k8s.example" };
const noAnswer = (cause: object): Transport => {
  const error = new Error("GET /kube/config/api/v1/nodes: no answer", { cause: Object.assign(new Error("cause"), cause) });
  return async () => Promise.reject(error);
};
const answers =
  (status: number, message: string): Transport =>
  async () => ({ status, body: { message } });

it.for<{ name: string; send: Transport; says: string }>([
  {
    name: "a host without an address",
    send: noAnswer({ code: "ENOTFOUND" }),
    says: "the host of https://k8s.example is not known (ENOTFOUND); connect to the cluster's network or VPN, or correct the server of context prod in /kube/config",
  },
  {
    name: "a timeout",
    send: noAnswer({ name: "AbortError" }),
    says: "https://k8s.example does not answer within 10 s; connect to the cluster's network or VPN, or let its public endpoint accept this address",
  },
  {
    name: "an untrusted certificate",
    send: noAnswer({ code: "DEPTH_ZERO_SELF_SIGNED_CERT" }),
    says: "the certificate of https://k8s.example is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT); correct certificate-authority-data",
  },
  {
    name: "a login that fails",
    send: noAnswer({ message: "spawn aws ENOENT" }),
    says: "https://k8s.example cannot be asked: spawn aws ENOENT; check the user of context prod in /kube/config with kubectl auth whoami",
  },
  {
    name: "401",
    send: answers(401, "Unauthorized"),
    says: "https://k8s.example does not accept the credentials of context prod (401); log in again, or renew them with aws eks update-kubeconfig",
  },
  {
    name: "403",
    send: answers(403, "nodes is forbidden"),
    says: "https://k8s.example does not let the user of context prod in /kube/config read /api/v1/nodes (403: nodes is forbidden); give this user a ClusterRole with get and list",
  },
])("a request that a kubeconfig's server does not answer says the cause and the fix: $name", async ({ send, says }) => {
  await expect(explained(send, CLUSTER)({ method: "GET", path: "/api/v1/nodes" })).rejects.toThrow(says);
});
