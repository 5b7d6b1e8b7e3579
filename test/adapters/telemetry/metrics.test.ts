import { afterEach, expect, it, vi } from "vitest";
import { emfMetrics, memoryMetrics, type SentMetrics } from "#adapters/telemetry/metrics.ts";
import type { Metrics } from "#core/ports/metrics.ts";
import { wireBase } from "#functions/wiring/base.ts";

function emitted(act: (metrics: Metrics) => void, metrics: Metrics = emfMetrics("all", undefined)): Record<string, unknown>[] {
  const texts: string[] = [];
  vi.spyOn(process.stdout, "write").mockImplementation((chunk) => {
    texts.push(String(chunk));
    return true;
  });
  act(metrics);
  vi.restoreAllMocks();
  return texts.map((text) => JSON.parse(text) as Record<string, unknown>);
}

/** Sets of dimensions, by metric, of what CloudWatch makes metrics of. */
function dimensionSets(lines: readonly Record<string, unknown>[]): Record<string, unknown> {
  const directives = lines.flatMap(
    (line) =>
      (line["_aws"] as { CloudWatchMetrics: { Dimensions: unknown; Metrics: { Name: string }[] }[] } | undefined)?.CloudWatchMetrics ?? [],
  );
  return Object.fromEntries(directives.map(({ Dimensions, Metrics: [metric] }) => [metric?.Name, Dimensions]));
}

function oneOfEachKind(metrics: Metrics): void {
  metrics.count("nodes_created_total", { nodepool: "default" });
  metrics.gauge("nodepools_allowed_disruptions", { nodepool: "default" }, 2);
  metrics.observe("interruption_message_queue_duration_seconds", {}, 1);
}

afterEach(() => {
  vi.restoreAllMocks();
});

it("each value is one EMF line with Karpenter's name and labels and no others", () => {
  const lines = emitted((metrics) => {
    metrics.count("nodeclaims_created_total", { reason: "provisioned", nodepool: "default", min_values_relaxed: "" });
    metrics.observe("nodes_lifetime_duration_seconds", {}, 1.5);
    metrics.gauge("ec2nodeclasses_userdata_bytes", { nodeclass: "default" }, 40);
  });
  expect(lines).toHaveLength(3);
  expect(lines[0]).toMatchObject({ reason: "provisioned", nodepool: "default", karpenter_nodeclaims_created_total: 1 });
  expect(lines.map((line) => (line["_aws"] as { CloudWatchMetrics: unknown[] }).CloudWatchMetrics[0])).toEqual([
    {
      Namespace: "Karpenter",
      Dimensions: [["reason", "nodepool"]],
      Metrics: [{ Name: "karpenter_nodeclaims_created_total", Unit: "Count" }],
    },
    { Namespace: "Karpenter", Dimensions: [[]], Metrics: [{ Name: "karpenter_nodes_lifetime_duration_seconds", Unit: "Seconds" }] },
    {
      Namespace: "Karpenter",
      Dimensions: [["nodeclass"]],
      Metrics: [{ Name: "karpenter_ec2nodeclasses_userdata_bytes", Unit: "Bytes" }],
    },
  ]);
});

it("at most nine labels become dimensions, and the rest stay in the line", () => {
  const labels = Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`l${i}`, `v${i}`]));
  const [line] = emitted((metrics) => metrics.gauge("nodepools_allowed_disruptions", labels, 1));
  const aws = line?.["_aws"] as { CloudWatchMetrics: { Dimensions: string[][] }[] };
  expect(aws.CloudWatchMetrics[0]?.Dimensions[0]).toEqual(Object.keys(labels).slice(0, 9));
  expect(line).toMatchObject(labels);
});

it("a value that is no number is dropped, because it spoils a whole EMF line", () => {
  expect(emitted((metrics) => metrics.gauge("nodepools_allowed_disruptions", {}, Number.POSITIVE_INFINITY))).toEqual([]);
});

it("memoryMetrics sums a counter over labels", () => {
  const metrics = memoryMetrics();
  metrics.count("nodes_created_total", { nodepool: "a", zone: "z1" });
  metrics.count("nodes_created_total", { nodepool: "a", zone: "z2" }, 2);
  metrics.count("nodes_created_total", { nodepool: "b", zone: "z1" });
  expect(metrics.total("nodes_created_total", { nodepool: "a" })).toBe(3);
  expect(metrics.total("nodes_created_total")).toBe(4);
  expect(metrics.total("nodes_drained_total")).toBe(0);
});

it.each<{ clusters: string[]; shared: string | undefined }>([
  { clusters: ["one"], shared: "one" },
  { clusters: ["one", "two"], shared: undefined },
])("metrics of clusters $clusters of one stack are told apart by the dimension cluster", ({ clusters, shared }) => {
  const base = wireBase("test", [], {
    TABLE_NAME: "table",
    CLUSTERS: JSON.stringify(clusters.map((name) => ({ name }))),
    CLOUDWATCH_METRICS: "all",
  });
  for (const cluster of clusters) {
    const [line] = emitted(
      (metrics) => metrics.gauge("nodepools_allowed_disruptions", { nodepool: "default" }, 2),
      base.metricsOf(cluster),
    );
    expect(line).toMatchObject({ cluster, nodepool: "default" });
    expect(dimensionSets(line ? [line] : [])).toEqual({ karpenter_nodepools_allowed_disruptions: [["cluster", "nodepool"]] });
  }
  const [line] = emitted((metrics) => metrics.count("interruption_deleted_messages_total", {}), base.metrics);
  expect(line?.["cluster"]).toBe(shared);
});

it("the essential metrics have the dimension cluster alone, and their labels stay in the line", () => {
  const [line, gauge] = emitted(
    (metrics) => {
      metrics.count("nodeclaims_created_total", { nodepool: "default", reason: "provisioned" });
      metrics.gauge("nodepools_allowed_disruptions", { nodepool: "default", reason: "Empty" }, 1);
    },
    emfMetrics("essential", "one"),
  );
  expect(dimensionSets(line ? [line] : [])).toEqual({ karpenter_nodeclaims_created_total: [["cluster"]] });
  expect(line).toMatchObject({ cluster: "one", nodepool: "default", reason: "provisioned", karpenter_nodeclaims_created_total: 1 });
  expect(gauge).toEqual({ cluster: "one", nodepool: "default", reason: "Empty", karpenter_nodepools_allowed_disruptions: 1 });
});

it.each<SentMetrics>(["essential", "counts"])(
  "CLOUDWATCH_METRICS=%s sends the gauge that an alarm looks at, with the dimension cluster alone",
  (sent) => {
    const lines = emitted(
      (metrics) => metrics.gauge("scheduler_unschedulable_pods_count", { controller: "provisioner" }, 2),
      emfMetrics(sent, "one"),
    );
    expect(dimensionSets(lines)).toEqual({ karpenter_scheduler_unschedulable_pods_count: [["cluster"]] });
  },
);

it.each<{ sent: SentMetrics; sets: Record<string, unknown> }>([
  {
    sent: "all",
    sets: {
      karpenter_nodes_created_total: [["cluster", "nodepool"]],
      karpenter_nodepools_allowed_disruptions: [["cluster", "nodepool"]],
      karpenter_interruption_message_queue_duration_seconds: [["cluster"]],
    },
  },
  {
    sent: "both",
    sets: {
      karpenter_nodes_created_total: [["cluster", "nodepool"], ["nodepool"]],
      karpenter_nodepools_allowed_disruptions: [["cluster", "nodepool"], ["nodepool"]],
      karpenter_interruption_message_queue_duration_seconds: [["cluster"], []],
    },
  },
  {
    sent: "counts",
    sets: {
      karpenter_nodes_created_total: [["cluster", "nodepool"]],
      karpenter_interruption_message_queue_duration_seconds: [["cluster"]],
    },
  },
  { sent: "none", sets: {} },
])("CLOUDWATCH_METRICS=$sent makes CloudWatch metrics of what it names, and every value stays in the log", ({ sent, sets }) => {
  const lines = emitted(oneOfEachKind, emfMetrics(sent, "one"));
  expect(dimensionSets(lines)).toEqual(sets);
  expect(lines).toMatchObject([
    { cluster: "one", nodepool: "default", karpenter_nodes_created_total: 1 },
    { cluster: "one", nodepool: "default", karpenter_nodepools_allowed_disruptions: 2 },
    { cluster: "one", karpenter_interruption_message_queue_duration_seconds: 1 },
  ]);
});
