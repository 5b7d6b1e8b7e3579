import { createSecureServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { parseAllDocuments } from "yaml";
import { manifests } from "#infra/manifests.ts";
import { startCluster, type TestCluster } from "../../e2e/support/cluster.ts";
import { eventually } from "../../e2e/support/wait.ts";
import { deployment, markingOf, marks, type Played } from "./observe.ts";

// kube-scheduler beside a webhook whose answer takes a given time: nothing else of the product runs.

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
  const { begin, ...played } = markingOf(marks(cluster.auditLog, name));
  const heard = [...receiver.heard].filter(([pod]) => pod.startsWith(`${name}-`)).map(([, at]) => at);
  await cluster.kubectl("delete", "deployment", name, "--cascade=foreground");
  if (watched === "no webhook") return played;
  return { ...played, heard: heard.length, heardAfter: (Math.max(...heard, begin) - begin) / 1_000 };
}

/** Plays each course so many times in one cluster; calls back with each result. */
export async function playStandIns(
  { pods, rounds, dataDir }: { readonly pods: number; readonly rounds: number; readonly dataDir: string },
  onPlayed: (name: string, played: Played) => void,
): Promise<void> {
  const cluster = await startCluster({ dataDir, clusterName: "c1" });
  const receiver = await startReceiver(cluster.tls);
  try {
    for (let round = 0; round < rounds; round++) {
      for (const [index, course] of COURSES.entries()) {
        const name = course.watched === "no webhook" ? "nothing" : `${course.watched}, ${course.ms} ms`;
        onPlayed(name, await play(course, `burst${round}x${index}`, pods, cluster, receiver));
      }
    }
  } finally {
    await cluster.stop();
    receiver.stop();
  }
}
