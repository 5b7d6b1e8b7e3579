import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { exposition, type Format } from "#core/insight/metrics/exposition.ts";
import { addUp, type Counted } from "#core/insight/metrics/sums.ts";

const text = (values: readonly Counted[], format: Format = "openmetrics"): string =>
  exposition([{ cluster: "prod", samples: [], sums: addUp(values), gauges: [] }], format);

describe("the exposition of sums", () => {
  it("a counter's family is without _total in OpenMetrics, and with it in the text format", () => {
    const values: Counted[] = [1, 2].map((value) => ({ name: "nodes_drained_total", labels: { nodepool: "default" }, value }));
    expect(text(values)).toBe(
      '# TYPE karpenter_nodes_drained counter\nkarpenter_nodes_drained_total{cluster="prod",nodepool="default"} 3\n# EOF\n',
    );
    expect(text(values, "text")).toBe(
      '# TYPE karpenter_nodes_drained_total counter\nkarpenter_nodes_drained_total{cluster="prod",nodepool="default"} 3\n',
    );
  });

  it("the buckets of a histogram are cumulative and end with all observations", () => {
    const values: Counted[] = [0.05, 0.3, 0.3, 99].map((value) => ({ name: "consolidation_score", labels: { policy: "Balanced" }, value }));
    const counts = [...text(values).matchAll(/_bucket\{.*le="([^"]+)"\} (\d+)/g)].map(([, bound, count]) => `${bound}:${count}`);
    expect(counts).toEqual(["0.1:1", "0.25:1", "0.33:3", "0.5:3", "1.0:3", "2.0:3", "5.0:3", "10.0:3", "+Inf:4"]);
    expect(text(values)).toContain('karpenter_consolidation_score_count{cluster="prod",policy="Balanced"} 4');
  });

  it("a summary has Karpenter's quantiles, right to 2.5 %", () => {
    const values: Counted[] = Array.from({ length: 1_000 }, (_, i) => ({
      name: "pods_startup_duration_seconds",
      labels: {},
      value: (i + 1) / 10,
    }));
    const quantiles = [...text(values).matchAll(/quantile="([^"]+)"\} (\S+)/g)].map(([, q, value]) => [q, Number(value)] as const);
    expect(quantiles.map(([q]) => q)).toEqual(["0.0", "0.5", "0.9", "0.99", "1.0"]);
    for (const [i, exact] of [0.1, 50, 90, 99, 100].entries()) expect(Math.abs((quantiles[i]?.[1] ?? 0) / exact - 1)).toBeLessThan(0.026);
  });

  it("a name of Karpenter's libraries has no prefix", () => {
    const value: Counted = { name: "controller_runtime_reconcile_total", labels: { controller: "provision", result: "success" }, value: 1 };
    expect(text([value])).toContain('\ncontroller_runtime_reconcile_total{cluster="prod",controller="provision",result="success"} 1\n');
  });

  it("what a newer version has added up under another name is left out", () => {
    const unknown = { name: "made_up_total", part: "total", labels: "", value: 1 } as unknown as ReturnType<typeof addUp>[number];
    expect(exposition([{ cluster: "prod", samples: [], sums: [unknown], gauges: [] }], "openmetrics")).toBe("# EOF\n");
  });

  it("a value that is no finite number is not added", () => {
    expect(addUp([Number.NaN, Number.POSITIVE_INFINITY].map((value) => ({ name: "nodes_drained_total", labels: {}, value })))).toEqual([]);
  });

  it("values added in parts come to the same as added at once", () => {
    const value = fc.record({
      name: fc.constantFrom("nodes_drained_total", "nodes_termination_duration_seconds", "consolidation_score"),
      labels: fc.record({ nodepool: fc.string({ maxLength: 4 }) }),
      value: fc.integer({ min: 0, max: 1_000 }),
    }) as fc.Arbitrary<Counted>;
    fc.assert(
      fc.property(fc.array(value), fc.nat(), (values, at) => {
        const cut = values.length === 0 ? 0 : at % values.length;
        const parts = [...addUp(values.slice(0, cut)), ...addUp(values.slice(cut))];
        const joined = exposition([{ cluster: "c", samples: [], sums: parts, gauges: [] }], "openmetrics");
        expect(joined.split("\n").sort()).toEqual(
          exposition([{ cluster: "c", samples: [], sums: addUp(values), gauges: [] }], "openmetrics")
            .split("\n")
            .sort(),
        );
      }),
      { numRuns: 50 },
    );
  });
});
