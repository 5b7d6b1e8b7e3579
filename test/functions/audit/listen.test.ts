import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { auditEntry, clusterOfLogGroup } from "../../../functions/audit/entry.ts";
import { recordingLog, recordingWakeUps } from "../../support/fakes.ts";

const EVENTS = join(import.meta.dirname, "../../../events");
const event = (name: string) => JSON.parse(readFileSync(join(EVENTS, name), "utf8"));
const { files } = event("index.json") as { files: Record<string, { kind: string; ring?: boolean; pods?: string[]; error?: boolean }> };

async function deliver(name: string, clusters = ["demo"]) {
  const wakeUps = recordingWakeUps();
  const log = recordingLog();
  const store = { byInstance: async () => undefined };
  await auditEntry({ store, wakeUps, log, clusters, clusterOf: clusterOfLogGroup(clusters) })(event(name));
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

  it("records of a cluster that is not served are dropped and logged", async () => {
    const { sent, errors } = await deliver("cwl-subscription.json", ["other"]);
    expect(sent).toEqual([]);
    expect(errors[0]).toContain("/aws/eks/demo/cluster is no cluster's of this stack");
  });
});
