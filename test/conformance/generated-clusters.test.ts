import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readScenario, scenarioToSnapshot } from "#cli/scenario/scenario.ts";
import { clustersToPlay } from "../support/effort.ts";
import type { RawJson } from "../support/scheduling/judge-rules.ts";
import { replay } from "./clusters/replay.ts";
import { ourTrail } from "./clusters/trail.ts";

/*
 * Underutilized clusters with the result of Karpenter v1.14.1 itself, written by `clusters/compare.ts --keep`. Kept are
 * clusters on which we once ended more expensive, and some of each kind.
 */
// Of Karpenter's result the list prices alone are kept, and it values T types at them.
const LIST_PRICES = { burstablePrice: "list" } as const;
const FOLDER = join(import.meta.dirname, "generated-clusters");

interface Kept {
  readonly scenario: RawJson;
  readonly karpenter: { readonly before: number; readonly after: number; readonly podsMoved: number; readonly passes: number };
}

const files = readdirSync(FOLDER).filter((file) => file.endsWith(".json.gz"));
const clusters = clustersToPlay(files.sort()).map((file) => {
  const { scenario, karpenter } = readScenario(join(FOLDER, file)) as Kept;
  return {
    name: file.replace(".json.gz", ""),
    ours: replay(scenario, ourTrail(scenarioToSnapshot(scenario), Number.POSITIVE_INFINITY, LIST_PRICES)),
    karpenter,
  };
});

describe.for(clusters)("$name, consolidated until no command follows", ({ ours, karpenter }) => {
  it("consolidation breaks no rule in any pass", () => expect(ours.broken).toEqual([]));
  it("the cluster costs no more than after Karpenter's consolidation", () =>
    expect(ours.after).toBeLessThanOrEqual(karpenter.after + 1e-6));
});

it("over all clusters, we move no more pods for each dollar saved than Karpenter", () => {
  const perDollar = (list: readonly Pick<Kept["karpenter"], "before" | "after" | "podsMoved">[]): number => {
    const [moved, saved] = list.reduce(([m, s], one) => [m + one.podsMoved, s + one.before - one.after], [0, 0]);
    return moved / saved;
  };
  expect(perDollar(clusters.map(({ ours }) => ours))).toBeLessThanOrEqual(perDollar(clusters.map(({ karpenter }) => karpenter)));
});
