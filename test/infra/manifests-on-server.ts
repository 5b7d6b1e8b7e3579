import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { clusterToken } from "#adapters/lambda/path-token.ts";
import { manifests } from "#infra/manifests.ts";
import { removeDir } from "../e2e/support/child.ts";
import { startCluster, type TestCluster } from "../e2e/support/cluster.ts";
import { eventually } from "../e2e/support/wait.ts";
import { podTemplate } from "../support/buffers.ts";
import { capacityBuffer, nodeClass, nodePool } from "./crd-samples.ts";
import { nodeOverlay } from "./node-overlay-samples.ts";

/**
 * Installs the manifests in a real API server, asks what the functions may do, and counts what the webhook lets
 * through: `node test/infra/manifests-on-server.ts`. Prints one line a step and "N passed, N failed"; exits 1 when one
 * failed.
 */

const buffer = capacityBuffer({ podTemplateRef: { name: "room" }, replicas: 1 });

/** "UPDATE pods/status web-1" and the like, in the order of arrival. */
interface Receiver {
  readonly url: string;
  readonly caBundle: string;
  readonly paths: ReadonlySet<string>;
  /**
   * Returns the calls since the last one, once all wanted ones have arrived, or will not arrive, and none has arrived
   * for a while.
   */
  settled(wanted: Wanted): Promise<readonly string[]>;
  stop(): void;
}

interface Review {
  readonly request: {
    readonly uid: string;
    readonly operation: string;
    readonly name: string;
    readonly subResource?: string;
    readonly resource: { readonly resource: string };
  };
}

async function startReceiver(dir: string): Promise<Receiver> {
  const [keyFile, certFile] = [join(dir, "key.pem"), join(dir, "cert.pem")];
  const args = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1", "-subj", "/CN=notify"];
  execFileSync("openssl", [...args, "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", keyFile, "-out", certFile], { stdio: "ignore" });
  const [key, cert] = [readFileSync(keyFile), readFileSync(certFile)];
  let calls: string[] = [];
  const paths = new Set<string>();
  const server: Server = createServer({ key, cert }, async (request, response) => {
    let body = "";
    for await (const chunk of request) {
      body += String(chunk);
    }
    const { request: asked } = JSON.parse(body) as Review;
    paths.add((request.url ?? "").split("?")[0] ?? "");
    calls.push(`${asked.operation} ${asked.resource.resource}${asked.subResource ? `/${asked.subResource}` : ""} ${asked.name}`);
    response.setHeader("content-type", "application/json");
    response.end(
      JSON.stringify({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", response: { uid: asked.uid, allowed: true } }),
    );
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    caBundle: cert.toString("base64"),
    paths,
    settled: async (wanted) => {
      // Calls that do not arrive are reported by the check that expects them.
      await eventually("the wanted calls come", () => missing(calls, wanted).length === 0).catch(() => {});
      for (let before = -1; before !== calls.length; ) {
        before = calls.length;
        await sleep(1_500);
      }
      const taken = calls;
      calls = [];
      return taken;
    },
    stop: () => server.close(),
  };
}

const deployment = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web", namespace: "default" },
  spec: {
    replicas: 5,
    selector: { matchLabels: { app: "web" } },
    template: {
      metadata: { labels: { app: "web" } },
      spec: { containers: [{ name: "web", image: "registry.example/web:1", resources: { requests: { cpu: "1" } } }] },
    },
  },
};

/** An Event of the core group, which an older scheduler writes; the webhook asks for those of events.k8s.io. */
const failed = (name: string): object => ({
  apiVersion: "v1",
  kind: "Event",
  metadata: { name, namespace: "default" },
  ...{ reason: "FailedScheduling", action: "Scheduling", type: "Warning", message: "0/1 nodes are available." },
  ...{ eventTime: "2026-01-01T09:00:00.000000Z", reportingComponent: "default-scheduler", reportingInstance: "default-scheduler-1" },
  involvedObject: { apiVersion: "v1", kind: "Pod", namespace: "default", name: "web-1" },
});

/** Flags of kubectl for a request of the provision function. */
const OURS = ["--as", "arn:aws:sts::111122223333:assumed-role/r/f", "--as-group", "karpenter-serverless:provision"];

/** How many calls of a kind. */
type Wanted = Readonly<Record<string, number | "any" | "some">>;

/** kube-scheduler tries pods that wait again at times of its own. */
const TRIED_AGAIN: Wanted = { "CREATE events": "any" };

type Step = readonly [name: string, act: () => Promise<unknown>, wanted: Wanted];

function steps(cluster: TestCluster): readonly Step[] {
  const kubectl = async (...args: readonly string[]): Promise<string> => cluster.kubectl(...args);
  const submit = async (verb: string, object: object): Promise<string> =>
    cluster.kubectl(verb, "-f", "-", { input: JSON.stringify(object) });
  const boot = async (name: string, taints: readonly object[]): Promise<void> => {
    const node = {
      apiVersion: "v1",
      kind: "Node",
      metadata: { name, labels: { "kubernetes.io/hostname": name } },
      spec: { providerID: `aws:///us-west-2a/i-${name}`, taints },
      status: { capacity: { cpu: "8", memory: "16Gi", pods: "50" }, allocatable: { cpu: "8", memory: "16Gi", pods: "50" } },
    };
    const response = await fetch(`${cluster.control}/join`, { method: "POST", body: JSON.stringify(node) });
    if (!response.ok) {
      throw new Error(await response.text());
    }
  };
  const count = (name: string, times: number): Promise<string> =>
    kubectl(
      ...["patch", "events.events.k8s.io", name, "--type=merge", "-p"],
      JSON.stringify({ series: { count: times, lastObservedTime: "2026-01-01T09:00:00.000000Z" } }),
    );
  const unregistered = { key: "karpenter.sh/unregistered", effect: "NoExecute" };
  const events: readonly Step[] = [
    ["a pod that fits nowhere is told of in the core group", () => submit("create", failed("core")), { "CREATE events": 1 }],
    ["it fails again, which is only counted", () => count("core", 2), {}],
    ["an Event with another reason", () => submit("create", { ...failed("other"), reason: "Scheduled" }), {}],
    ["our own Event about a pod", () => cluster.kubectl("create", ...OURS, "-f", "-", { input: JSON.stringify(failed("ours")) }), {}],
  ];
  const others: readonly Step[] = [
    ["five pods find no room", () => submit("create", deployment), { "CREATE events": "some" }],
    ["an event of the same pods again", () => kubectl("annotate", "pods", "--all", "x=y"), {}],
    ["a dry run", () => kubectl("create", "deployment", "dry", "--image=x", "--dry-run=server"), {}],
    ["a NodePool is made", () => submit("create", nodePool({})), { "CREATE nodepools": 1 }],
    [
      "its status changes",
      () => kubectl("patch", "nodepool", "sample", "--subresource=status", "--type=merge", "-p", '{"status":{"nodes":1}}'),
      {},
    ],
    ["its annotations change", () => kubectl("annotate", "nodepool", "sample", "a=b"), {}],
    [
      "its spec changes",
      () => kubectl("patch", "nodepool", "sample", "--type=merge", "-p", '{"spec":{"weight":5}}'),
      { "UPDATE nodepools": 1 },
    ],
    ["it is deleted", () => kubectl("delete", "nodepool", "sample"), { "DELETE nodepools": 1 }],
    ["a NodeOverlay is made", () => submit("create", nodeOverlay({})), { "CREATE nodeoverlays": 1 }],
    [
      "its status changes",
      () => kubectl("patch", "nodeoverlay", "sample", "--subresource=status", "--type=merge", "-p", '{"status":{"conditions":[]}}'),
      {},
    ],
    ["the overlay is deleted", () => kubectl("delete", "nodeoverlay", "sample"), { "DELETE nodeoverlays": 1 }],
    ["a CapacityBuffer is made", () => submit("create", buffer), { "CREATE capacitybuffers": 1 }],
    [
      "the buffer's status changes",
      () => kubectl("patch", "cb", "sample", "--subresource=status", "--type=merge", "-p", '{"status":{"replicas":1}}'),
      {},
    ],
    ["the buffer's PodTemplate is made", () => submit("create", podTemplate()), { "CREATE podtemplates": 1 }],
    ["the PodTemplate's pods want more", () => submit("replace", podTemplate({ cpu: "2" })), { "UPDATE podtemplates": 1 }],
    ["the buffer is deleted", () => kubectl("delete", "cb", "sample"), { "DELETE capacitybuffers": 1 }],
    ["an EC2NodeClass is made", () => submit("create", nodeClass({})), { "CREATE ec2nodeclasses": 1 }],
    // Ready may be in the status that the node is created with or in the next one; the controller's tainting varies
    // likewise.
    ["a node joins", () => boot("n1", [unregistered]), { "CREATE nodes": 1, "UPDATE nodes": "any", "UPDATE nodes/status": "any" }],
    ["it is registered, and its pods start", () => kubectl("taint", "node", "n1", "karpenter.sh/unregistered-"), { "UPDATE nodes": 1 }],
    ["ten seconds of heartbeats", () => sleep(10_000), {}],
    ["it is marked for disruption", () => kubectl("taint", "node", "n1", "karpenter.sh/disrupted:NoSchedule"), {}],
    ["pods are deleted one by one", () => kubectl("scale", "deployment", "web", "--replicas=2"), { "UPDATE pods/status": 3 }],
    [
      "a pod is deleted by force",
      () => kubectl("delete", "pod", "--force", "-l", "app=web", "--field-selector=status.phase=Running"),
      { "DELETE pods": "any", "UPDATE pods/status": "any" },
    ],
    [
      "a node is deleted",
      () => kubectl("delete", "node", "n1", "--wait=false"),
      { "DELETE nodes": 1, "DELETE pods": "any", "UPDATE pods/status": "any" },
    ],
  ];
  return [...events, ...others.map(([name, act, wanted]): Step => [name, act, { ...TRIED_AGAIN, ...wanted }])];
}

/** Kinds of which fewer came than are wanted. */
function missing(calls: readonly string[], wanted: Wanted): readonly string[] {
  const count = (kind: string): number => calls.filter((call) => call.startsWith(`${kind} `)).length;
  const least = { any: 0, some: 1 };
  return Object.entries(wanted).flatMap(([kind, want]) => (count(kind) < (typeof want === "number" ? want : least[want]) ? [kind] : []));
}

/** A sentence when the calls are not those wanted. */
function judge(calls: readonly string[], wanted: Wanted): string | undefined {
  const counts = Object.groupBy(calls, (call) => call.split(" ").slice(0, 2).join(" "));
  const kinds = new Set([...Object.keys(counts), ...Object.keys(wanted)]);
  const wrong = [...kinds].filter((kind) => {
    const want = wanted[kind] ?? 0;
    const got = counts[kind]?.length ?? 0;
    return want !== "any" && (want === "some" ? got === 0 : got !== want);
  });
  return wrong.length === 0 ? undefined : `${wrong.join(", ")}: wanted ${JSON.stringify(wanted)}, got ${JSON.stringify(calls)}`;
}

/** What each function's handlers ask of the API server, and some of what they must not be able to. */
const RIGHTS: Readonly<Record<string, { readonly may: readonly string[]; readonly mayNot: readonly string[] }>> = {
  provision: {
    may: [
      "list pods",
      "list nodepools.karpenter.sh",
      "list nodeoverlays.karpenter.sh",
      "list daemonsets.apps",
      "list csinodes.storage.k8s.io",
      "list namespaces",
      "patch pods/status",
      "create events",
      ...["list capacitybuffers.autoscaling.x-k8s.io", "update capacitybuffers.autoscaling.x-k8s.io/status", "get podtemplates"],
      ...["get deployments.apps", "list statefulsets.apps", "list replicasets.apps", "list services", "list replicationcontrollers"],
    ],
    mayNot: [
      ...["delete pods", "update nodes", "create nodeclaims.karpenter.sh", "get secrets"],
      ...["update capacitybuffers.autoscaling.x-k8s.io", "update deployments.apps"],
    ],
  },
  lifecycle: {
    may: [
      ...[
        "create nodeclaims.karpenter.sh",
        "update nodeclaims.karpenter.sh",
        "update nodeclaims.karpenter.sh/status",
        "delete nodeclaims.karpenter.sh",
      ],
      ...[
        "update nodes",
        "delete nodes",
        "create pods/eviction",
        "delete pods",
        "get persistentvolumeclaims",
        "list volumeattachments.storage.k8s.io",
      ],
      ...["list nodepools.karpenter.sh", "list ec2nodeclasses.karpenter.k8s.aws", "list nodeoverlays.karpenter.sh"],
      ...["get ec2nodeclasses.karpenter.k8s.aws", "get services/kube-dns -n kube-system", "create events"],
    ],
    mayNot: ["create pods", "update ec2nodeclasses.karpenter.k8s.aws", "get services -n kube-system", "get secrets"],
  },
  disruption: {
    may: [
      "list poddisruptionbudgets.policy",
      "list nodeoverlays.karpenter.sh",
      ...[
        "list capacitybuffers.autoscaling.x-k8s.io",
        "get podtemplates",
        "get deployments.apps",
        "list replicasets.apps",
        "list services",
      ],
      "update nodes",
      "update nodeclaims.karpenter.sh/status",
      "create events",
    ],
    mayNot: [
      ...["delete nodes", "create pods/eviction", "delete nodeclaims.karpenter.sh"],
      "update capacitybuffers.autoscaling.x-k8s.io/status",
    ],
  },
  interruption: { may: ["get nodeclaims.karpenter.sh", "create events"], mayNot: ["list pods", "delete nodeclaims.karpenter.sh"] },
  catalog: {
    may: [
      ...["update ec2nodeclasses.karpenter.k8s.aws", "update ec2nodeclasses.karpenter.k8s.aws/status", "update nodepools.karpenter.sh"],
      ...["update nodepools.karpenter.sh/status", "update nodeclaims.karpenter.sh", "list nodes"],
      ...["list nodeoverlays.karpenter.sh", "update nodeoverlays.karpenter.sh/status"],
    ],
    mayNot: ["update nodes", "list pods", "update nodeoverlays.karpenter.sh"],
  },
};

/** A sentence when a function may do less or more than it should. */
async function judgeRights(cluster: TestCluster, name: string): Promise<string | undefined> {
  const can = async (asked: string): Promise<boolean> => {
    const [verb = "", target = "", ...rest] = asked.split(" ");
    // Of a name, like services/kube-dns, or of a subresource, like pods/eviction.
    const [resource = "", part = ""] = target.split("/");
    const what = ["eviction", "status"].includes(part) ? [resource, `--subresource=${part}`] : [target];
    const who = [
      "--as",
      "arn:aws:sts::111122223333:assumed-role/r/f",
      "--as-group",
      `karpenter-serverless:${name}`,
      "--as-group",
      "system:authenticated",
    ];
    return cluster.kubectl("auth", "can-i", verb, ...what, ...rest, ...who).then(
      () => true,
      () => false,
    );
  };
  const { may = [], mayNot = [] } = RIGHTS[name] ?? {};
  const wrong: string[] = [];
  for (const asked of may) if (!(await can(asked))) wrong.push(`may not ${asked}`);
  for (const asked of mayNot) if (await can(asked)) wrong.push(`may ${asked}`);
  return wrong.length === 0 ? undefined : wrong.join(", ");
}

async function main(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), "manifests-on-server-"));
  const receiver = await startReceiver(dataDir);
  const cluster = await startCluster({ dataDir, clusterName: "c1" });
  const token = "0123456789abcdef";
  let failed = 0;
  let passed = 0;
  const record = (name: string, fault: string | undefined): void => {
    fault === undefined ? passed++ : failed++;
    console.log(fault === undefined ? `ok   ${name}` : `FAIL ${name}: ${fault}`);
  };
  try {
    const text = manifests({ cluster: "c1", notifyUrl: receiver.url, notifyToken: token, caBundle: receiver.caBundle });
    await cluster.kubectl("apply", "-f", "-", { input: text });
    await cluster.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=300s");
    await receiver.settled({});
    for (const name of Object.keys(RIGHTS)) {
      record(`${name} may do what it needs, and not more`, await judgeRights(cluster, name));
    }
    for (const [name, act, wanted] of steps(cluster)) {
      const fault = await act().then(() => undefined, String);
      record(name, fault ?? judge(await receiver.settled(wanted), wanted));
    }
    const paths = [...receiver.paths].join(" ");
    record("every call went to the cluster's secret path", paths === `/v1/c1/${clusterToken(token, "c1")}` ? undefined : paths);
  } finally {
    await cluster.stop();
    receiver.stop();
    removeDir(dataDir);
  }
  console.log(`${passed} passed, ${failed} failed`);
  process.exit(failed === 0 ? 0 : 1);
}

await main();
