import { expect, it } from "vitest";
import { planDisruption } from "#core/disruption/plan.ts";
import { reportOf } from "#core/disruption/reports/report-of.ts";
import type { JsonObject } from "#core/lib/json.ts";
import type { Snapshot } from "#core/model/snapshot.ts";
import { planRepairs } from "#core/repair/plan.ts";
import { solve } from "#core/scheduling/solve.ts";
import { withoutUnreadable } from "#core/set-aside/set-aside.ts";
import { NOW, pdb, pod, snapshot } from "../core/disruption/builders.ts";
import { WITH_SOLVE } from "../support/disruption/with-solve.ts";
import { FULL } from "../support/effort.ts";
import { FULL_OBJECTS } from "./full-objects.ts";
import { variantsOf } from "./variants.ts";

// A pod with every rule, a volume and its claim, so that the readers of volumes have something to read.
const OTHERS = Object.groupBy(FULL_OBJECTS, ({ list }) => list);
const SCENE = snapshot({
  machines: [{ name: "n1" }, { name: "n2", type: "small" }],
  pods: [pod("running", "n1"), pod("small", "n2"), pod("pending"), OTHERS.pods?.[0]?.full as never],
  pdbs: [pdb("web", 1)],
});

/** Reads a cluster as decisions do. */
function decide(lists: Snapshot): void {
  const seen: Snapshot = { ...lists, ...withoutUnreadable({ ...lists, nodeClasses: [] }) };
  solve(seen);
  const input = { records: [], commands: [], now: NOW, settings: { cluster: "c" }, ...WITH_SOLVE };
  reportOf(planDisruption({ snapshot: seen, ...input, newId: () => "id" }));
  planRepairs({ nodes: seen.nodes, claims: seen.nodeClaims, now: NOW });
}

/** So many variants are read at a time. */
const BATCH = 50;
/** Without FULL, a part of the batches. */
const STEP = FULL ? 1 : 6;

it.for(FULL_OBJECTS)(
  "no decision throws beside $what without one of its fields, or with an edge of its type",
  { timeout: 300_000 },
  ({ list, full }) => {
    const variants = variantsOf(full as JsonObject);
    const withAll = (some: typeof variants): Snapshot => ({
      ...SCENE,
      [list]: [...SCENE[list as "pods"], ...some.map(({ object }) => object as never)],
    });
    for (let start = 0; start < variants.length; start += BATCH * STEP) {
      const batch = variants.slice(start, start + BATCH);
      const together = throws(withAll(batch));
      if (together === undefined) continue;
      // One at a time, to say which one it is.
      expect(batch.map((one) => `${one.what}: ${throws(withAll([one]))}`).filter((text) => !text.endsWith(": undefined"))).toEqual([]);
      expect.fail(`the variants throw together, and none alone: ${together}`);
    }
    expect(variants.length).toBeGreaterThan(5);
  },
);

function throws(lists: Snapshot): string | undefined {
  try {
    decide(lists);
    return undefined;
  } catch (error) {
    return (error as Error).stack?.split("\n").slice(0, 3).join(" ");
  }
}
