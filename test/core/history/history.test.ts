import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { launchFailed, removedEntries, terminatingEntries } from "#core/history/claim-entries.ts";
import { dayOf, daysWithin, keyOf, keyPrefixOf, subjectOf } from "#core/history/keys.ts";
import { waitedWith, waitsToWrite } from "#core/history/waiting.ts";
import { sentenceOf } from "#core/insight/history/sentence.ts";
import { dollars, whyItEnds } from "#core/insight/history/words.ts";
import { span } from "#core/lib/duration.ts";
import type { HistoryEntry, PodsWaited } from "#core/model/history-entry.ts";
import type { Pod } from "#core/model/pod.ts";
import { record } from "../../contracts/node-claim-store/contract.ts";

const NOW = Date.parse("2026-03-01T12:00:00Z");
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const about = { cluster: "c", at: NOW, nodeClaim: "default-x7k2p", intent: "0a", nodePool: "default" } as const;
const machine = {
  ...{ instanceId: "i-1", instanceType: "m5.large", zone: "us-west-2a", capacityType: "spot" as const },
  ...{ pricePerHour: 0.035, onDemandPerHour: 0.096 },
};

describe("keys", () => {
  it("an entry is found under its subject, and under no subject whose name begins alike", () => {
    const entry: HistoryEntry = { type: "Registered", ...about, node: "n1" };
    expect(subjectOf(entry)).toBe("node/n1");
    expect(keyOf(entry).startsWith(keyPrefixOf("node/n1"))).toBe(true);
    expect(keyOf({ ...entry, node: "n10" }).startsWith(keyPrefixOf("node/n1"))).toBe(false);
    expect(keyOf({ ...entry, node: "n10" }).startsWith(keyPrefixOf("node/"))).toBe(true);
  });

  it("two NodeClaims of one name have entries of their own", () => {
    const [first] = terminatingEntries({ ...record("a"), terminating: { reason: "expired", at: 1 } }, NOW);
    const [second] = terminatingEntries({ ...record("a", { intentId: "other" }), terminating: { reason: "expired", at: 1 } }, NOW);
    expect(first && second && keyOf(first) !== keyOf(second)).toBe(true);
  });

  it("the days of a range are those in which a moment of it lies", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4e12 }), fc.integer({ min: 1, max: 40 * 86_400_000 }), (since, length) => {
        const days = daysWithin(since, since + length);
        expect(days[0]).toBe(dayOf(since));
        expect(days.at(-1)).toBe(dayOf(since + length - 1));
        expect(new Set(days).size).toBe(days.length);
      }),
    );
    expect(daysWithin(NOW, NOW)).toEqual([]);
  });
});

describe("sentences", () => {
  it("a plan tells for whom, what was chosen, and what came next", () => {
    const text = sentenceOf({
      ...{ type: "Planned", ...about, reason: "provisioned", pods: ["default/web-1", "default/web-2"], podCount: 2, waitedMs: 12_000 },
      ...{ requests: { cpu: "1500m", memory: "3Gi" }, typeCount: 42, together: 1 },
      choices: [
        { instanceType: "m5.large", capacityType: "on-demand", zone: "us-west-2a", pricePerHour: 0.096 },
        { instanceType: "m5a.large", capacityType: "on-demand", zone: "us-west-2b", pricePerHour: 0.099 },
      ],
    });
    expect(text).toBe(
      "planned for 2 pods (default/web-1, default/web-2), the oldest 12s old; asks for cpu 1500m, memory 3Gi with DaemonSets; " +
        "m5.large on-demand in us-west-2a at $0.0960/h is the cheapest of 42 types; next: m5a.large on-demand in us-west-2b $0.0990/h",
    );
  });

  it("the end of a machine tells how long it ran and what it cost", () => {
    const ended = { ...record("a"), instance: { id: "i-1", ...machine, imageId: "" }, launchPrice: machine, launchedAt: NOW - 2 * HOUR };
    const [removed] = removedEntries({ ...ended, terminating: { reason: "expired", at: NOW - 90_000 } }, NOW);
    expect(removed && sentenceOf(removed)).toBe("gone 2h after its launch, $0.0700 at its price at launch; its end took 1m 30s");
  });

  it.for([
    { name: "a reason of ours", reason: "expired", text: "it was as old as expireAfter allows" },
    { name: "a notice of EC2, in the words of its event", reason: "spot_interrupted", text: "Spot interruption warning was triggered" },
    { name: "a reason of a later version, as it is", reason: "new_reason", text: "new_reason" },
  ])("why a machine ends is said for $name", ({ reason, text }) => {
    expect(whyItEnds(reason)).toBe(text);
  });

  it.for([
    { ms: 400, text: "0s" },
    { ms: 31_000, text: "31s" },
    { ms: 7_932_000, text: "2h 12m" },
    { ms: 86_400_000 + 30_000, text: "1d" },
    { ms: 59_999, text: "1m" },
  ])("a span of $ms ms is $text", ({ ms, text }) => {
    expect(span(ms)).toBe(text);
  });

  it("small sums of money keep their digits", () => {
    expect([0.00213, 12.3, -4, 0].map(dollars)).toEqual(["$0.0021", "$12.30", "-$4.00", "$0.00"]);
  });

  it("a message of any length leaves an entry that the table takes", () => {
    const entry = launchFailed(record("a"), NOW, { reason: "x".repeat(5_000), message: "y".repeat(500_000) });
    expect(JSON.stringify(entry).length).toBeLessThan(2_000);
  });
});

describe("pods that wait", () => {
  const pod = (name: string, fields: Partial<Pod["metadata"]> = {}): Pod => ({
    metadata: {
      ...{ name, namespace: "shop", creationTimestamp: new Date(NOW - MINUTE).toISOString() },
      ownerReferences: [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: "web-7d", uid: "u", controller: true }],
      ...fields,
    },
    spec: { containers: [] },
  });
  const wait = (pods: readonly Pod[], known: readonly PodsWaited[], now: number, error = "no room in pool a: 3 cpu are free") =>
    waitsToWrite(
      "c",
      pods.map((one) => ({ pod: one, error })),
      known,
      now,
    );

  it("the pods of a controller are one entry, whatever their number", () => {
    const many = Array.from({ length: 500 }, (_, i) => pod(`web-7d-${i}`));
    const [entry, ...others] = wait(many, [], NOW);
    expect(others).toEqual([]);
    expect(entry).toMatchObject({ owner: "ReplicaSet/web-7d", podCount: 500, since: NOW - MINUTE });
    expect(entry?.pods.length).toBe(20);
  });

  it("a wait of a day is written some fifty times, and its length is known to an eighth", () => {
    let known: readonly PodsWaited[] = [];
    let writes = 0;
    for (let now = NOW; now <= NOW + 24 * HOUR; now += MINUTE) {
      const entries = wait([pod("web-7d-1")], known, now, `no room in pool a: ${now % 7} cpu are free`);
      writes += entries.length;
      if (entries.length > 0) known = entries;
      const [last] = known;
      expect(last?.since).toBe(NOW - MINUTE);
      expect(now - (last?.at ?? 0)).toBeLessThanOrEqual(Math.max(5 * MINUTE, (now - NOW) / 8 + 2 * MINUTE));
    }
    expect(writes).toBeLessThan(60);
    expect(known[0]?.reasons.length).toBe(1);
  });

  it("another reason is kept beside the first, and the latest five are kept", () => {
    let known: readonly PodsWaited[] = [];
    for (let i = 0; i < 8; i++) known = wait([pod("web-7d-1")], known, NOW + i * 2 * MINUTE, `reason ${"abcdefgh"[i]}`);
    expect(known[0]?.reasons.map(({ text }) => text)).toEqual(["d", "e", "f", "g", "h"].map((letter) => `reason ${letter}`));
  });

  it("a wait that comes hours after the last one is a wait of its own", () => {
    const [first] = wait([pod("web-7d-1")], [], NOW);
    const later = pod("web-7d-2", { creationTimestamp: new Date(NOW + 5 * HOUR).toISOString() });
    const [second] = wait([later], first ? [first] : [], NOW + 5 * HOUR + MINUTE);
    expect(second?.since).toBe(NOW + 5 * HOUR);
    expect(first && second && keyOf(first) !== keyOf(second)).toBe(true);
  });

  it("one tenant with many controllers does not hide the others'", () => {
    const crowd = Array.from({ length: 200 }, (_, i) => pod(`p${i}`, { ownerReferences: [] }));
    const entries = wait([...crowd, pod("other", { namespace: "bank", ownerReferences: [] })], [], NOW);
    expect(entries.length).toBe(50);
    expect(entries.some(({ namespace }) => namespace === "bank")).toBe(true);
  });

  it("a pod is found in the wait of its controller, and not in that of another", () => {
    const [entry] = wait(
      Array.from({ length: 30 }, (_, i) => pod(`web-7d-${i}`)),
      [],
      NOW,
    );
    expect(entry && waitedWith(entry, { namespace: "shop", name: "web-7d-29" })).toBe(true);
    expect(entry && waitedWith(entry, { namespace: "shop", name: "web-7dx" })).toBe(false);
    expect(entry && waitedWith(entry, { namespace: "bank", name: "web-7d-29" })).toBe(false);
  });
});
