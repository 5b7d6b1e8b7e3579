import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { CloudWatchLogsEvent, LambdaFunctionURLEvent, SQSBatchResponse, SQSEvent } from "aws-lambda";
import { wakeUpBody } from "#adapters/aws/wake-up-queue.ts";
import { FAILED } from "#adapters/lambda/batch.ts";
import { clusterToken, fixedToken } from "#adapters/lambda/path-token.ts";
import { getAt, isJsonObject, type Json, type JsonObject, parseJson, textAt } from "#core/lib/json.ts";
import { WAKE_UP_CAUSES } from "#core/ports/wake-up-causes.ts";
import type { WakeUp } from "#core/ports/wake-ups.ts";
import { admissionEntry } from "#functions/admission/entry.ts";
import { auditEntry, clusterOfLogGroup } from "#functions/audit/entry.ts";
import { disruptionEntry } from "#functions/disruption/entry.ts";
import { interruptionEntry } from "#functions/interruption/entry.ts";
import { lifecycleEntry } from "#functions/lifecycle/entry.ts";
import { notifyEntry } from "#functions/notify/entry.ts";
import { provisionEntry } from "#functions/provision/entry.ts";
import { createLab } from "#lab/host.ts";
import { hash, type Random, seeded } from "#lab/world/random.ts";
import type { ApiObject } from "#manifests/api-object.ts";
import { schemaProblems } from "#manifests/crd-schema.ts";
import { nodeClass, nodePool } from "../infra/crd-samples.ts";
import { noVisibility, recordingLog, recordingWakeUps } from "../support/fakes.ts";
import { OPTIONS } from "../support/lab-story.ts";
import { servedAs } from "../support/served.ts";
import { mutatedJson, mutatedText } from "./mutate.ts";

/**
 * Events of every source, changed at odd places: audit deliveries, webhook calls, admission reviews, EC2's notices and
 * wake-ups.
 * In: a seed. Out: what a function did wrong with one event. A function drops what it cannot read with one sentence:
 * what it throws, or hands back to its queue, is delivered again and fails again.
 */

const EVENTS = join(import.meta.dirname, "../../events");
const read = (path: string): Json => JSON.parse(readFileSync(join(EVENTS, path), "utf8")) as Json;
type Samples = readonly [Json, ...Json[]];

const AUDIT_RECORDS = readdirSync(join(EVENTS, "audit"))
  .filter((name) => name.endsWith(".json"))
  .map((name) => read(join("audit", name))) as unknown as Samples;
const NOTICES = readdirSync(EVENTS)
  .filter((name) => /^(spot|rebalance|state-change|health|capacity|unknown)/.test(name))
  .map(read) as unknown as Samples;
const DEFINITIONS = [
  nodePool({ spec: { weight: 1, disruption: { consolidateAfter: "0s", budgets: [{ nodes: "1", schedule: "@daily", duration: "1h" }] } } }),
  nodeClass({}),
] as unknown as Samples;
const ENVELOPE = { messageType: "DATA_MESSAGE", logGroup: "/aws/eks/c1/cluster", logStream: "kube-apiserver-audit-1" };
const SECRET = "0123456789abcdef0123";
const TOKEN = clusterToken(SECRET, "c1");

/** Words of a JavaScript engine: they say nothing to a user. */
const ENGINE = /Cannot (read|convert|mix)|is not a function|is not iterable|Maximum call stack|Invalid array|at .*\.ts:\d+/;

/** Text that is usually JSON with odd places, and sometimes no JSON. */
const odd = (value: Json, random: Random): string =>
  random.next() < 0.2 ? mutatedText(JSON.stringify(value), random) : JSON.stringify(mutatedJson(value, random));

/** Gives a function an odd event; returns what it did wrong. */
type Play = (random: Random) => Promise<string | undefined>;

const audit: Play = async (random) => {
  const log = recordingLog();
  const logEvents = Array.from({ length: random.between(1, 3) }, () => ({ message: odd(random.pick(AUDIT_RECORDS), random) }));
  const delivery = { ...ENVELOPE, logEvents };
  const text = random.next() < 0.3 ? odd(delivery, random) : JSON.stringify(delivery);
  const data = gzipSync(text).toString("base64");
  const event = { awslogs: { data: random.next() < 0.1 ? mutatedText(data, random) : data } };
  const clusterOf = clusterOfLogGroup(servedAs([{ name: "c1", sources: ["audit"] }]));
  const wakeUps = recordingWakeUps();
  const deps = { store: { byInstance: async () => undefined }, wakeUps, log, clusters: async () => ["c1"], clusterOf };
  await auditEntry(deps)(event as CloudWatchLogsEvent);
  return log.errors.find((error) => ENGINE.test(error));
};

const review = (random: Random): Json => {
  const record = random.pick(AUDIT_RECORDS);
  const { objectRef, verb, responseObject } = (isJsonObject(record) ? record : {}) as { readonly [field: string]: Json };
  const {
    resource = "pods",
    apiVersion = "v1",
    apiGroup = "",
    name = "x",
    namespace = "",
    subresource = "",
  } = (objectRef ?? {}) as JsonObject;
  const operation = verb === "delete" ? "DELETE" : verb === "create" ? "CREATE" : "UPDATE";
  const request = {
    uid: "u",
    operation,
    resource: { group: apiGroup, version: apiVersion, resource },
    subResource: subresource,
    name,
    namespace,
  };
  const object = (responseObject ?? {}) as Json;
  return { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", request: { ...request, object, oldObject: object } };
};

const posted = (path: string, body: string): LambdaFunctionURLEvent => ({ rawPath: path, body }) as LambdaFunctionURLEvent;

const isServed = async (cluster: string): Promise<boolean> => cluster === "c1";

const notify: Play = async (random) => {
  const log = recordingLog();
  const store = { byInstance: async () => undefined };
  const entry = notifyEntry({ store, wakeUps: recordingWakeUps(), log, isToken: fixedToken(SECRET), isServed });
  const answer = await entry(posted(`/v1/c1/${TOKEN}`, odd(review(random), random)));
  return log.errors[0] ?? wrongStatus(answer);
};

const admission: Play = async (random) => {
  const log = recordingLog();
  const gates = { NodeOverlay: true, StaticCapacity: true };
  const entry = admissionEntry({ log, isToken: fixedToken(SECRET), isServed, gates });
  const duty = random.pick(["default", "validate", "convert"]);
  const [object, oldObject] = [random.pick(DEFINITIONS), random.pick(DEFINITIONS)];
  const request = { uid: "u", operation: "UPDATE", object, oldObject, desiredAPIVersion: "karpenter.sh/v1", objects: [object] };
  const body = odd({ request }, random);
  const answer = await entry(posted(`/v1/c1/${TOKEN}/${duty}`, body));
  // It may say of an object that is not as its schema asks that it cannot be read.
  const mayLog = duty === "validate" && !isAdmissible(parseJson(body));
  return (mayLog ? undefined : log.errors[0]) ?? wrongStatus(answer);
};

/** Whether the objects are as the schemas of the CRDs ask: the API server shows others to no webhook. */
function isAdmissible(review: Json | undefined): boolean {
  return ["object", "oldObject"].every((field) => {
    const object = getAt(review, ["request", field]);
    const [kind, name] = [textAt(object, ["kind"]), textAt(object, ["metadata", "name"])];
    return kind !== undefined && name !== undefined && schemaProblems(kind, object as unknown as ApiObject).length === 0;
  });
}

const wrongStatus = (answer: unknown): string | undefined => {
  const { statusCode } = answer as { readonly statusCode?: number };
  return statusCode === 200 || statusCode === 400 ? undefined : `answered ${statusCode}`;
};

/** A batch of a queue with these bodies, each of its own message group. */
function queued(bodies: readonly string[]): SQSEvent {
  const attributes = { ApproximateReceiveCount: "1", SentTimestamp: "0", SenderId: "x", ApproximateFirstReceiveTimestamp: "0" };
  const source = { eventSource: "aws:sqs", eventSourceARN: "arn:aws:sqs:us-west-2:123456789012:q", awsRegion: "us-west-2" };
  const Records = bodies.map((body, i) => ({
    ...{ messageId: `m${i}`, receiptHandle: `m${i}`, body, md5OfBody: "", messageAttributes: {} },
    ...{ attributes: { ...attributes, MessageGroupId: `g${i}` }, ...source },
  }));
  return { Records };
}

/** What a function did wrong that got a batch: it handed a message back or sent it again, or let the engine speak. */
function wrongWithBatch(answer: SQSBatchResponse | undefined, { errors }: { readonly errors: readonly string[] }): string | undefined {
  if (errors.includes(FAILED) || (answer !== undefined && answer.batchItemFailures.length > 0)) return `handed back: ${errors[0]}`;
  return errors.find((error) => ENGINE.test(error));
}

const interruption: Play = async (random) => {
  const lab = createLab({ ...OPTIONS, seed: 1 });
  const log = recordingLog();
  const { deps } = lab;
  const entry = interruptionEntry({ ...deps, clusterDeps: async () => deps, log, changeVisibility: noVisibility });
  const answer = await entry(queued([odd(random.pick(NOTICES), random)]));
  lab.close();
  return wrongWithBatch(answer, log);
};

/** A wake-up of each cause, DefinitionChanged among them, and one of a NodeClaim, as the queues carry them. */
const WAKE_UPS = [
  { kind: "claim", cluster: "lab", claim: "default-x7k2p", dueAt: 1 } as const,
  { kind: "sweep", cluster: "lab" } as const,
  ...Object.entries(WAKE_UP_CAUSES).flatMap(([kind, causes]) =>
    Object.keys(causes).map((cause) => ({ kind, cluster: "lab", cause, detail: "NodePool default" }) as unknown as WakeUp),
  ),
].map((wakeUp) => JSON.parse(wakeUpBody(wakeUp)) as Json) as unknown as Samples;

/** Wake-ups come in swarms: one cause many times, with odd ones between. */
const wakeUps: Play = async (random) => {
  const lab = createLab({ ...OPTIONS, seed: 1 });
  const log = recordingLog();
  const { deps } = lab;
  const entryOf = random.pick([provisionEntry, disruptionEntry, lifecycleEntry]);
  const entry = entryOf({
    clusters: async () => ["lab"],
    clusterDeps: async (name) => (name === deps.cluster.name ? { ...deps, log } : undefined),
    ...{ wakeUps: deps.wakeUps, later: deps.later, log, changeVisibility: noVisibility },
  });
  const wakeUp = random.pick(WAKE_UPS);
  const bodies = Array.from({ length: random.between(1, 5) }, () => (random.next() < 0.5 ? odd(wakeUp, random) : JSON.stringify(wakeUp)));
  const answer = await entry(queued(bodies));
  lab.close();
  return wrongWithBatch(answer, log);
};

export const SOURCES: Readonly<Record<string, Play>> = { audit, notify, admission, interruption, wakeUps };

/** How long a function may take with one event, ms: longer is a hang. */
const MAX_EVENT_MS = 5_000;

/** What functions did wrong with the events of some seeds, each with its source and seed. */
export async function wrongWithOddEvents(first: number, count: number, sources = Object.keys(SOURCES)): Promise<readonly string[]> {
  const wrong: string[] = [];
  for (let seed = first; seed < first + count; seed++) {
    for (const source of sources) {
      const began = performance.now();
      const what = await SOURCES[source]?.(seeded(hash(`seed ${seed}`)).fork(source)).catch((error: Error) => `threw ${error.stack}`);
      const ms = performance.now() - began;
      if (what !== undefined) wrong.push(`${source}, seed ${seed}: ${what}`);
      else if (ms > MAX_EVENT_MS) wrong.push(`${source}, seed ${seed}: took ${Math.round(ms)} ms`);
    }
  }
  return wrong;
}
