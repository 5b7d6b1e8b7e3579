import { describe, expect, it } from "vitest";
import { findCandidates } from "#core/disruption/cluster/candidate.ts";
import { viewCluster } from "#core/disruption/cluster/view.ts";
import { newCommand } from "#core/disruption/command/command.ts";
import { commandFields, commandText, disruptingVia } from "#core/disruption/reports/wording.ts";
import type { CommandRecord } from "#core/model/command-record.ts";
import type { PlannedNodeClaim } from "#core/model/plan.ts";
import { NOW, planned, pod, snapshot } from "../builders.ts";

const SPOT = [{ key: "karpenter.sh/capacity-type", operator: "In" as const, values: ["spot"] }];
const spot = (instanceTypes: readonly string[]): PlannedNodeClaim => planned({ instanceTypes, requirements: SPOT });
const onDemand = (instanceTypes: readonly string[]): PlannedNodeClaim => planned({ instanceTypes });

function replacing(replacements: readonly PlannedNodeClaim[]): CommandRecord {
  const scene = snapshot({ machines: [{ name: "a" }], pods: [pod("p", "a")] });
  const { all } = findCandidates(viewCluster({ snapshot: scene, records: [], commands: [], now: NOW }));
  return newCommand({ cluster: "c", id: "id-1", now: NOW, method: "multi", candidates: all, replacements });
}

describe("a command in words", () => {
  const six = ["a1", "a2", "a3", "a4", "a5", "a6"];

  it("one replacement is worded as in Karpenter", () => {
    const command = replacing([onDemand(six)]);
    expect(disruptingVia(command)).toBe(
      "replace, terminating 1 nodes (1 pods) a/large/on-demand and replacing with on-demand node from types a1, a2, a3, a4, a5 and 1 other(s)",
    );
    expect(commandText(command)).toBe("Underutilized/replace: nodepools=[default]: [a] -> [1 replacement]");
    expect(commandFields(command)["replacement-nodes"]).toEqual([
      { "capacity-type": "on-demand", "instance-types": "a1, a2, a3, a4, a5 and 1 other(s)" },
    ]);
  });

  it("each of several replacements is named with its capacity type and its first types", () => {
    const command = replacing([spot(six), onDemand(["b1"]), spot(six)]);
    expect(disruptingVia(command)).toMatch(
      / and replacing with 2 spot nodes from types a1, a2, a3 and 3 other\(s\); 1 on-demand node from types b1$/,
    );
    expect(commandText(command)).toMatch(/ -> \[3 replacements: 2 spot a1, 1 on-demand b1\]$/);
    expect(commandFields(command)["replacement-nodes"].map((node) => node["instance-types"])).toEqual([
      "a1, a2, a3 and 3 other(s)",
      "b1",
      "a1, a2, a3 and 3 other(s)",
    ]);
  });

  it("kinds of replacements past the fifth are counted", () => {
    const command = replacing(Array.from({ length: 8 }, (_, i) => onDemand([`t${i}`])));
    expect(commandText(command)).toMatch(/1 on-demand t4, 3 other\(s\)\]$/);
    expect(disruptingVia(command)).toMatch(/1 on-demand node from types t4; 3 other\(s\)$/);
  });
});
