import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { CloudWatchLogsEvent } from "aws-lambda";
import { describe, expect, it } from "vitest";
import type { WakeUps } from "#core/ports/wake-ups.ts";
import { auditEntry, clusterOfLogGroup } from "#functions/audit/entry.ts";
import { recordingLog, recordingWakeUps } from "../../support/fakes.ts";
import { servedAs } from "../../support/served.ts";

const EVENTS = join(import.meta.dirname, "../../../events");
const event = (name: string) => JSON.parse(readFileSync(join(EVENTS, name), "utf8"));
const { files } = event("index.json") as { files: Record<string, { kind: string; ring?: boolean; pods?: string[]; error?: boolean }> };

const deliver = (name: string, clusters?: string[]) => send(event(name), clusters);

/** A delivery in CloudWatch Logs' form. */
const packed = (delivery: unknown) => ({ awslogs: { data: gzipSync(JSON.stringify(delivery)).toString("base64") } });

/** @param failures how many of the first wake-ups the queue does not take */
async function send(sent: unknown, clusters = ["demo"], failures = 0) {
  const wakeUps = recordingWakeUps();
  const log = recordingLog();
  const store = { byInstance: async () => undefined };
  const clusterOf = clusterOfLogGroup(servedAs(clusters.map((name) => ({ name, sources: ["audit"] }))));
  let calls = 0;
  const queue: WakeUps = { wake: (asked) => (calls++ < failures ? Promise.reject(new Error("queue is gone")) : wakeUps.wake(asked)) };
  const deps = { store, wakeUps: queue, log, clusters: async () => clusters, clusterOf };
  await auditEntry(deps)(sent as CloudWatchLogsEvent);
  return { sent: wakeUps.sent, errors: log.errors };
}

describe("audit deliveries", () => {
  const deliveries = Object.entries(files).filter(([, { kind }]) => kind === "cwl");
  it.for(deliveries)("%s", async ([name, { ring, pods, error }]) => {
    const { sent, errors } = await deliver(name);
    const provision = sent.filter(({ kind }) => kind === "provision");
    if (ring !== undefined) expect(provision).toHaveLength(ring ? 1 : 0);
    // A record that was cut counts as one more pod, of unknown name.
    if (ring && pods && !name.includes("truncated"))
      expect(provision[0]).toMatchObject({ cause: "PodsUnschedulable", detail: `${pods.length}` });
    if (error) expect(errors).toHaveLength(1);
  });

  it("wake-ups that the queue did not take are sent once more; then Lambda repeats the delivery", async () => {
    const delivery = event("cwl-subscription.json");
    expect((await send(delivery, ["demo"], 1)).sent).toEqual((await send(delivery)).sent);
    await expect(send(delivery, ["demo"], 2)).rejects.toThrow("queue is gone");
  });

  it("records of a cluster that is not served are dropped and logged", async () => {
    const { sent, errors } = await deliver("cwl-subscription.json", ["other"]);
    expect(sent).toEqual([]);
    expect(errors[0]).toContain("/aws/eks/demo/cluster is no cluster's of this stack");
  });
});

it("a log group belongs to the cluster that names it, else to the cluster in its own name", async () => {
  const clusters = [
    { name: "a", sources: ["audit"] },
    { name: "b", sources: ["audit"], logGroup: "/central/b-audit" },
    { name: "c", sources: ["notify"] },
  ];
  const clusterOf = clusterOfLogGroup(servedAs(clusters));
  const groups = ["/aws/eks/a/cluster", "/central/b-audit", "/aws/eks/b/cluster", "/aws/eks/c/cluster"];
  expect(await Promise.all(groups.map(clusterOf))).toEqual(["a", "b", undefined, undefined]);
});

it("the log group of a cluster that was added a moment ago is looked for again", async () => {
  const before = servedAs([]);
  const after = servedAs([{ name: "new", sources: ["audit"] }]);
  let isAsked = false;
  const clusterOf = clusterOfLogGroup({
    all: () => (isAsked ? after : before).all(),
    find: async (name) => {
      isAsked ||= name === "new";
      return undefined;
    },
  });
  expect(await clusterOf("/aws/eks/new/cluster")).toBe("new");
});

describe("audit deliveries that nobody should send", () => {
  const ENVELOPE = { messageType: "DATA_MESSAGE", logGroup: "/aws/eks/demo/cluster", logStream: "kube-apiserver-audit-1" };
  const rings = { message: readFileSync(join(EVENTS, "audit/pod-unschedulable-first.json"), "utf8") };

  it.for([null, 7, "text", [], {}, { awslogs: null }, { awslogs: { data: 7 } }, { awslogs: { data: { toString: 1 } } }])(
    "the event %j is told and dropped",
    async (odd) => {
      expect(await send(odd)).toEqual({ sent: [], errors: [expect.stringContaining("The event has no awslogs.data")] });
    },
  );

  it.for([null, 7, "text", [], { logEvents: "no list", ...ENVELOPE }, { logEvents: { length: 1 }, ...ENVELOPE }])(
    "the delivery %j wakes the planner in its stead, and is told",
    async (odd) => {
      const { sent, errors } = await send(packed(odd));
      expect(sent).toMatchObject([{ kind: "provision", cause: "AuditUnreadable" }]);
      expect(errors).toEqual([expect.stringContaining("The audit delivery cannot be read: it")]);
    },
  );

  it.for([null, 7, "text", [], {}, { message: 7 }, { message: null }, { message: "7" }, { message: "{" }, { message: { toString: 1 } }])(
    "the record %j is told, and stops no other record of its delivery",
    async (odd) => {
      const { sent, errors } = await send(packed({ ...ENVELOPE, logEvents: [odd, rings, odd] }));
      expect(sent).toMatchObject([{ kind: "provision", cause: "PodsUnschedulable", detail: "1" }]);
      expect(errors).toEqual(["2 audit record(s) are cut off or no JSON; they were dropped."]);
    },
  );

  it("a field of an audit record that has another type than Kubernetes sends counts as missing", async () => {
    const record = JSON.parse(rings.message) as { [field: string]: object };
    for (const field of Object.keys(record)) {
      for (const odd of [null, 7, "x", [], [null], { toString: 1 }, { code: { valueOf: 1 } }]) {
        const logEvents = [{ message: JSON.stringify({ ...record, [field]: odd }) }, rings];
        const { sent } = await send(packed({ ...ENVELOPE, logEvents }));
        expect(sent, field).toMatchObject([{ kind: "provision" }]);
      }
    }
  });

  it("a name that no object can have makes no wake-up, because a queue takes no message of a megabyte", async () => {
    const objectRef = { apiGroup: "karpenter.sh", resource: "nodeclaims", name: "x".repeat(1_000_000) };
    const message = JSON.stringify({ verb: "patch", responseStatus: { code: 200 }, objectRef });
    expect(await send(packed({ ...ENVELOPE, logEvents: [{ message }] }))).toEqual({ sent: [], errors: [] });
  });

  it("a delivery that unpacks without end is given up at a limit, and the planner is woken in its stead", async () => {
    const member = gzipSync(Buffer.alloc(8 * 1024 * 1024, " "));
    const bomb = Buffer.concat([gzipSync(`{"logEvents":[`), ...Array.from({ length: 17 }, () => member)]);
    const { sent, errors } = await send({ awslogs: { data: bomb.toString("base64") } });
    expect(sent).toMatchObject([{ cause: "AuditUnreadable" }]);
    expect(errors).toEqual([expect.stringContaining("it unpacks to more than 134217728 bytes")]);
  });

  it("a record that is longer than CloudWatch Logs takes is told, and stops no other", async () => {
    const { sent, errors } = await send(packed({ ...ENVELOPE, logEvents: [{ message: "x".repeat(5_000_000) }, rings] }));
    expect(sent).toMatchObject([{ cause: "PodsUnschedulable" }]);
    expect(errors).toEqual([expect.stringContaining("1 audit record(s)")]);
  });

  it("records are found wherever the pieces of the unpacked delivery end", async () => {
    for (const padding of [0, 1, 2, 3, 5, 8, 13]) {
      const message = JSON.stringify({ note: `"]}\\é${"é".repeat(40_000 + padding)}"{[` });
      const { sent, errors } = await send(packed({ ...ENVELOPE, logEvents: [{ message }, rings, { message }, { message }] }));
      expect({ sent: sent.length, errors }).toEqual({ sent: 1, errors: [] });
    }
  });
});
