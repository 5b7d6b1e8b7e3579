import { mkdtempSync, readFileSync } from "node:fs";
import { createSecureServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { parseAllDocuments } from "yaml";
import { manifests } from "../../infra/manifests.ts";
import { removeDir } from "../e2e/support/child.ts";
import { startCluster, type TestCluster } from "../e2e/support/cluster.ts";
import { eventually } from "../e2e/support/wait.ts";

/**
 * How fast a real kube-scheduler finds pods unschedulable while the notify webhook is registered, on a real API server:
 * `node test/bench/marking.ts [--pods 300] [--rounds 3]`. Prints for each webhook and time of its answer the best
 * of the rounds, because other work on the machine only makes it slower. The row "pods/status" is the webhook as it was
 * before decision 0016, in the path of kube-scheduler's own writes.
 */

type Watched = "no webhook" | "pods/status" | "events";

interface Course {
  readonly watched: Watched;
  /** How long the webhook takes to answer. */
  readonly ms: number;
}

const COURSES: readonly Course[] = [
  { watched: "no webhook", ms: 0 },
  ...[20, 65].flatMap((ms) => (["pods/status", "events"] as const).map((watched) => ({ watched, ms }))),
];

interface Configuration {
  readonly kind: string;
  readonly webhooks: readonly (Readonly<Record<string, unknown>> & { readonly name: string })[];
}

/** The notify webhook as it is deployed, or with pods/status in the place of events. */
function configuration(watched: Watched, url: string, caBundle: string): object {
  const text = manifests({ cluster: "c1", notifyUrl: url, notifyToken: "0123456789abcdef", caBundle });
  const notify = parseAllDocuments(text)
    .map((document) => document.toJS() as Configuration)
    .find(({ kind }) => kind === "ValidatingWebhookConfiguration");
  if (notify === undefined) throw new Error("the manifests have no ValidatingWebhookConfiguration: see infra/webhook/notify.yaml");
  if (watched === "events") return notify;
  const unschedulable = "c.type == 'PodScheduled' && c.status == 'False' && has(c.reason) && c.reason == 'Unschedulable'";
  const expression = `has(object.status.conditions) && object.status.conditions.exists(c, ${unschedulable}) && !(has(oldObject.status.conditions) && oldObject.status.conditions.exists(c, ${unschedulable}))`;
  const rules = [{ apiGroups: [""], apiVersions: ["v1"], operations: ["UPDATE"], resources: ["pods/status"], scope: "Namespaced" }];
  const webhooks = notify.webhooks.map((webhook) =>
    webhook.name.startsWith("pod-unschedulable.")
      ? { ...webhook, rules, matchConditions: [{ name: "became-unschedulable", expression }] }
      : webhook,
  );
  return { ...notify, webhooks };
}

interface Receiver {
  readonly url: string;
  /** When each pod was first heard of, ms since the epoch, by its name. */
  readonly heard: Map<string, number>;
  answerAfterMs: number;
  stop(): void;
}

interface Review {
  readonly request: {
    readonly uid: string;
    readonly name: string;
    readonly object?: { readonly reason?: string; readonly regarding?: { readonly name?: string } };
  };
}

async function startReceiver(tls: TestCluster["tls"]): Promise<Receiver> {
  const heard = new Map<string, number>();
  // HTTP/2, as a function URL speaks it: the API server then needs one connection for all calls.
  const server = createSecureServer({ ...tls, allowHTTP1: true }, async (request, response) => {
    // The API server hangs up when a call has taken a second.
    const body = await request.toArray().catch(() => undefined);
    if (body === undefined) return;
    const { request: asked } = JSON.parse(Buffer.concat(body).toString("utf8")) as Review;
    const pod = asked.object?.regarding?.name ?? asked.name;
    if (!heard.has(pod)) heard.set(pod, Date.now());
    await sleep(receiver.answerAfterMs);
    response.setHeader("content-type", "application/json");
    const review = { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", response: { uid: asked.uid, allowed: true } };
    response.end(JSON.stringify(review));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const receiver: Receiver = {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    heard,
    answerAfterMs: 0,
    stop: () => server.close(),
  };
  return receiver;
}

const deployment = (name: string, replicas: number): object => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name, namespace: "default" },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: "web", image: "registry.example/web:1", resources: { requests: { cpu: "1" } } }] },
    },
  },
});

interface AuditRecord {
  readonly verb: string;
  readonly user: { readonly username: string };
  readonly objectRef?: { readonly resource?: string; readonly subresource?: string; readonly name?: string };
  readonly requestReceivedTimestamp: string;
  readonly stageTimestamp: string;
}

/** What kube-scheduler's first status write of each pod took: begin and end, ms since the epoch, by the pod's name. */
function marks(auditLog: string, prefix: string): ReadonlyMap<string, readonly [number, number]> {
  const found = new Map<string, readonly [number, number]>();
  for (const line of readFileSync(auditLog, "utf8").split("\n")) {
    if (!line.includes('"system:kube-scheduler"') || !line.includes(`"${prefix}-`)) continue;
    const { verb, user, objectRef, ...at } = JSON.parse(line) as AuditRecord;
    const { resource, subresource, name = "" } = objectRef ?? {};
    if (verb !== "patch" || user.username !== "system:kube-scheduler" || resource !== "pods" || subresource !== "status") continue;
    if (!found.has(name)) found.set(name, [Date.parse(at.requestReceivedTimestamp), Date.parse(at.stageTimestamp)]);
  }
  return found;
}

/** What a course came to. Times are seconds after the first pod was marked. */
interface Played {
  readonly markedAfter: number;
  /** What kube-scheduler waited for a write of a pod's status, ms, in the middle of all pods. */
  readonly writeMs: number;
  readonly heard: number;
  readonly heardAfter: number;
}

async function play({ watched, ms }: Course, name: string, pods: number, cluster: TestCluster, receiver: Receiver): Promise<Played> {
  const kubectl = (verb: string, object: object): Promise<string> => cluster.kubectl(verb, "-f", "-", { input: JSON.stringify(object) });
  await cluster.kubectl("delete", "validatingwebhookconfigurations", "--all", "--ignore-not-found");
  receiver.answerAfterMs = ms;
  if (watched !== "no webhook") await kubectl("create", configuration(watched, receiver.url, cluster.caData));
  // The API server learns of a webhook a moment later.
  await sleep(3_000);
  receiver.heard.clear();
  await kubectl("create", deployment(name, pods));
  await eventually("all pods are marked", () => marks(cluster.auditLog, name).size >= pods, { timeoutMs: 180_000, everyMs: 1_000 });
  await sleep(3_000);
  const written = [...marks(cluster.auditLog, name).values()].sort(([a], [b]) => a - b);
  const heard = [...receiver.heard].filter(([pod]) => pod.startsWith(`${name}-`)).map(([, at]) => at);
  await cluster.kubectl("delete", "deployment", name, "--cascade=foreground");
  const began = written[0]?.[0] ?? 0;
  const took = written.map(([begin, end]) => end - begin).sort((a, b) => a - b);
  return {
    markedAfter: (Math.max(...written.map(([, end]) => end)) - began) / 1_000,
    writeMs: took[Math.floor(took.length / 2)] ?? 0,
    heard: heard.length,
    heardAfter: (Math.max(...heard, began) - began) / 1_000,
  };
}

function row({ watched, ms }: Course, pods: number, { markedAfter, writeMs, heard, heardAfter }: Played): string {
  const isWatched = watched !== "no webhook";
  const columns = [
    isWatched ? `${ms} ms` : "",
    markedAfter.toFixed(1),
    (pods / markedAfter).toFixed(0),
    `${writeMs} ms`,
    ...(isWatched ? [`${heard}`, heardAfter.toFixed(1)] : []),
  ];
  return [watched.padEnd(11), ...columns.map((value) => value.padStart(9))].join("");
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { pods: { type: "string", default: "300" }, rounds: { type: "string", default: "3" } } });
  const pods = Number(values.pods);
  const dataDir = mkdtempSync(join(tmpdir(), "marking-"));
  const cluster = await startCluster({ dataDir, clusterName: "c1" });
  const receiver = await startReceiver(cluster.tls);
  const best = new Map<Course, Played>();
  try {
    for (let round = 0; round < Number(values.rounds); round++) {
      for (const [index, course] of COURSES.entries()) {
        const played = await play(course, `burst${round}x${index}`, pods, cluster, receiver);
        const before = best.get(course);
        if (before === undefined || played.markedAfter < before.markedAfter) best.set(course, played);
      }
    }
  } finally {
    await cluster.stop();
    receiver.stop();
    removeDir(dataDir);
  }
  console.log("webhook on    answer  marked,s   pods/s  a write    heard  heard,s");
  for (const [course, played] of best) console.log(row(course, pods, played));
}

await main();
