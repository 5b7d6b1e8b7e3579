import { describe, expect, it } from "vitest";
import { duration, elapsed, renderCosts, renderEntry, renderNodeClaims, renderNodes, renderTable, WIDTH } from "#lab/render.ts";
import { entryOf } from "#lab/timeline.ts";

const START = Date.UTC(2026, 0, 15, 10);

describe("timeline", () => {
  it("shows time, event, object, reason and price", () => {
    const entry = {
      at: START + 65_000,
      what: "launched nodeclaim",
      which: "default-x7k2p",
      why: "m5.large on-demand us-west-2a",
      pricePerHour: 0.096,
    };
    expect(renderEntry(entry, { start: START })).toBe(
      "+01:05    launched nodeclaim          default-x7k2p  m5.large on-demand us-west-2a                              $0.096/h",
    );
    expect(renderEntry(entry, { start: START }).length).toBe(WIDTH);
  });

  it.for([
    [9.5, "$9.500/h"],
    [17.9923, "$17.99/h"],
    [999.99, "$999.99/h"],
    [12_345.6, "$12346/h"],
  ] as const)("keeps a blank before large prices (%f)", ([pricePerHour, want]) => {
    const [first = ""] = renderEntry({ at: START, what: "w", which: "x ".repeat(49), pricePerHour }, { start: START }).split("\n");
    expect(first.length).toBe(WIDTH);
    expect(first).toMatch(/ \$[^ ]+$/);
    expect(first.endsWith(want)).toBe(true);
  });

  it("wraps long lines within the width", () => {
    const why =
      "via replace, terminating 1 nodes (1 pods) ip-192-168-105-117.ap-northeast-2.compute.internal/c5a.2xlarge/on-demand and replacing with on-demand node from types c5a.large, c7i-flex.large, c5.large, c6i.large, c7i.large and 52 other(s)";
    const lines = renderEntry({ at: START, what: "disrupting nodeclaim(s)", which: "", why, pricePerHour: 12.5 }, { start: START }).split(
      "\n",
    );
    expect(lines.length).toBeGreaterThan(1);
    expect(Math.max(...lines.map((l) => l.length))).toBeLessThanOrEqual(WIDTH);
    expect(
      lines
        .map((l) => l.trim())
        .join(" ")
        .replaceAll(/\s+/g, " "),
    ).toContain("c7i-flex.large, c5.large");
  });

  it.for([10, 24, 99, 100, 999])("keeps its columns after %d hours", (hours) => {
    const line = renderEntry({ at: START + hours * 3_600_000, what: "launched nodeclaim", which: "x", pricePerHour: 1 }, { start: START });
    expect(line.indexOf("launched")).toBe(10);
    expect(line.length).toBe(WIDTH);
  });

  it("is without colour unless it is asked for", () => {
    const entry = { at: START, what: "failed", which: "x", isError: true };
    expect(renderEntry(entry, { start: START })).not.toContain("\u001b");
    expect(renderEntry(entry, { start: START, colour: true })).toContain("\u001b[31mfailed\u001b[0m");
  });

  it.for([
    [0, "+00:00"],
    [59_999, "+00:59"],
    [3_600_000, "+1:00:00"],
    [90_061_000, "+25:01:01"],
    [363_540_000, "+100h59m"],
  ] as const)("shows the elapsed time (%i ms)", ([ms, want]) => {
    expect(elapsed(ms)).toBe(want);
  });

  it.for([
    {
      message: "launched nodeclaim",
      fields: {
        NodeClaim: { name: "a" },
        "instance-type": "m5.large",
        zone: "us-west-2a",
        "capacity-type": "spot",
        allocatable: { cpu: "1930m", "ephemeral-storage": "17Gi" },
      },
      want: { what: "launched nodeclaim", which: "a", why: "m5.large spot us-west-2a (cpu 1930m)" },
    },
    {
      message: "tainted node",
      fields: { Node: { name: "n" }, "taint.Key": "karpenter.sh/disrupted", "taint.Effect": "NoSchedule" },
      want: { what: "tainted node", which: "n", why: "karpenter.sh/disrupted:NoSchedule" },
    },
    {
      message: "disrupting nodeclaim(s) via delete, terminating 1 nodes (0 pods) n/m5.large/spot",
      fields: { reason: "empty" },
      want: { what: "disrupting nodeclaim(s)", which: "", why: "via delete, terminating 1 nodes (0 pods) n/m5.large/spot (empty)" },
    },
    {
      message: "disrupting nodeclaim(s) via delete, terminating 1 nodes (3 pods) n/m5.large/spot",
      fields: { reason: "underutilized", "pod-count": 3, "savings-per-hour": 0.03841 },
      want: {
        what: "disrupting nodeclaim(s)",
        which: "",
        why: "via delete, terminating 1 nodes (3 pods) n/m5.large/spot (underutilized); moves 3 pods to save $0.0384/h",
      },
    },
    { message: "deleted node", fields: { Node: { name: "n" } }, want: { what: "deleted node", which: "n" } },
    {
      message: "found provisionable pod(s)",
      fields: { Pods: "default/a, default/b" },
      want: { what: "found provisionable pod(s)", which: "default/a, default/b" },
    },
  ])("shortens the log line: $message", ({ message, fields, want }) => {
    expect(entryOf({ at: START, level: "info", message, fields })).toEqual({ at: START, ...want });
  });

  it("leaves debug lines out and marks errors", () => {
    expect(entryOf({ at: START, level: "debug", message: "m", fields: {} })).toBeUndefined();
    expect(
      entryOf({ at: START, level: "error", message: "failed launching nodeclaim", fields: { error: "no capacity" } }, 1),
    ).toMatchObject({ isError: true, why: "no capacity", pricePerHour: 1 });
  });
});

describe("tables", () => {
  const metadata = { name: "default-edcede", creationTimestamp: "2026-01-15T10:00:00Z" };

  it("show NodeClaims as kubectl does", () => {
    const labels = {
      "node.kubernetes.io/instance-type": "c5a.2xlarge",
      "karpenter.sh/capacity-type": "on-demand",
      "topology.kubernetes.io/zone": "ap-northeast-2b",
    };
    const spec = { requirements: [], nodeClassRef: { group: "g", kind: "k", name: "n" } };
    const status = {
      nodeName: "ip-192-168-2-126.ap-northeast-2.compute.internal",
      conditions: [{ type: "Ready", status: "True" as const }],
    };
    expect(renderNodeClaims([{ metadata: { ...metadata, labels }, spec, status }], START + 524_000)).toBe(
      `NAME            TYPE         CAPACITY   ZONE             NODE                                              READY  AGE
default-edcede  c5a.2xlarge  on-demand  ap-northeast-2b  ip-192-168-2-126.ap-northeast-2.compute.internal  True   8m44s`,
    );
    expect(renderNodeClaims([{ metadata, spec }], START)).toContain("Unknown   0s");
    expect(renderNodeClaims([], START)).toBe("No NodeClaims found");
  });

  it("show how full nodes are", () => {
    const node = {
      metadata,
      spec: {},
      status: { allocatable: { cpu: "1930m", memory: "6903Mi", pods: "29" }, conditions: [{ type: "Ready", status: "True" as const }] },
    };
    const pod = (phase: "Running" | "Succeeded") => ({
      metadata: { name: phase },
      spec: { nodeName: metadata.name, containers: [{ name: "c", resources: { requests: { cpu: "250m", memory: "1Gi" } } }] },
      status: { phase },
    });
    expect(renderNodes([node], [pod("Running"), pod("Succeeded")], START).split("\n")[1]).toMatch(
      /Ready +1\/29 +0\.3\/1\.9 +1\.0Gi\/6\.7Gi +0s$/,
    );
  });

  it("cut the widest column where the table would be too wide", () => {
    const table = renderTable(["A", "B"], [["x".repeat(200), "short"]]);
    expect(Math.max(...table.split("\n").map((l) => l.length))).toBe(WIDTH);
    expect(table).toContain("…  short");
  });

  it("sum up the cost", () => {
    const line = {
      instanceId: "i-1",
      instanceType: "m5.large",
      capacityType: "spot",
      zone: "us-west-2a",
      price: 0.04,
      seconds: 1_800,
      usd: 0.02,
    };
    expect(renderCosts([line, line])).toContain("2 instances, $0.0400 in all");
    expect(renderCosts([])).toBe("No instance was started: $0.00");
  });

  it.for([
    [5, "5s"],
    [119, "119s"],
    [330, "5m30s"],
    [600, "10m"],
    [11_100, "3h5m"],
    [90_000, "25h"],
    [190_000, "2d4h"],
    [900_000, "10d"],
  ] as const)("print ages as kubectl does (%i s)", ([seconds, want]) => {
    expect(duration(seconds)).toBe(want);
  });
});
