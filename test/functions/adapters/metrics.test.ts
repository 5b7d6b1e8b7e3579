import { afterEach, expect, it, vi } from "vitest";
import { emfMetrics, memoryMetrics } from "../../../functions/adapters/metrics.ts";

function emitted(act: (metrics: ReturnType<typeof emfMetrics>) => void): Record<string, unknown>[] {
  const texts: string[] = [];
  const metrics = emfMetrics();
  vi.spyOn(process.stdout, "write").mockImplementation((chunk) => {
    texts.push(String(chunk));
    return true;
  });
  act(metrics);
  vi.restoreAllMocks();
  return texts.map((text) => JSON.parse(text) as Record<string, unknown>);
}

afterEach(() => {
  vi.restoreAllMocks();
});

it("each value is one EMF line with Karpenter's name and labels and no others", () => {
  const lines = emitted((metrics) => {
    metrics.count("nodeclaims_created_total", { reason: "provisioned", nodepool: "default", min_values_relaxed: "" });
    metrics.observe("pods_bound_duration_seconds", {}, 1.5);
    metrics.gauge("cluster_utilization_percent", { resource_type: "cpu" }, 40);
  });
  expect(lines).toHaveLength(3);
  expect(lines[0]).toMatchObject({ reason: "provisioned", nodepool: "default", karpenter_nodeclaims_created_total: 1 });
  expect(lines.map((line) => (line["_aws"] as { CloudWatchMetrics: unknown[] }).CloudWatchMetrics[0])).toEqual([
    {
      Namespace: "Karpenter",
      Dimensions: [["reason", "nodepool"]],
      Metrics: [{ Name: "karpenter_nodeclaims_created_total", Unit: "Count" }],
    },
    { Namespace: "Karpenter", Dimensions: [[]], Metrics: [{ Name: "karpenter_pods_bound_duration_seconds", Unit: "Seconds" }] },
    {
      Namespace: "Karpenter",
      Dimensions: [["resource_type"]],
      Metrics: [{ Name: "karpenter_cluster_utilization_percent", Unit: "Percent" }],
    },
  ]);
});

it("at most nine labels become dimensions, and the rest stay in the line", () => {
  const labels = Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`l${i}`, `v${i}`]));
  const [line] = emitted((metrics) => metrics.gauge("pods_state", labels, 1));
  const aws = line?.["_aws"] as { CloudWatchMetrics: { Dimensions: string[][] }[] };
  expect(aws.CloudWatchMetrics[0]?.Dimensions[0]).toEqual(Object.keys(labels).slice(0, 9));
  expect(line).toMatchObject(labels);
});

it("a value that is no number is dropped, because it spoils a whole EMF line", () => {
  expect(emitted((metrics) => metrics.gauge("nodepools_limit", {}, Number.POSITIVE_INFINITY))).toEqual([]);
});

it("memoryMetrics sums a counter over labels", () => {
  const metrics = memoryMetrics();
  metrics.count("nodes_created_total", { nodepool: "a", zone: "z1" });
  metrics.count("nodes_created_total", { nodepool: "a", zone: "z2" }, 2);
  metrics.count("nodes_created_total", { nodepool: "b", zone: "z1" });
  expect(metrics.total("nodes_created_total", { nodepool: "a" })).toBe(3);
  expect(metrics.total("nodes_created_total")).toBe(4);
  expect(metrics.total("other")).toBe(0);
});
