import type { PlannedCommand } from "#cli/consolidate/consolidate.ts";
import { findCandidates } from "#core/disruption/cluster/candidate.ts";
import { viewCluster } from "#core/disruption/cluster/view.ts";
import { simulateWithSolve } from "#core/disruption/consolidation/simulate.ts";
import type { Snapshot } from "#core/model/snapshot.ts";
import { judge } from "../support/scheduling/check-plan.ts";
import type { RawJson } from "../support/scheduling/judge-rules.ts";

/**
 * The rules of scheduling that a command breaks when it moves its pods, found by the judge that shares no code with the
 * solver. The judge gets the cluster without the removed nodes, with their pods pending.
 */
export function brokenPlacement(raw: RawJson, snapshot: Snapshot, command: PlannedCommand): readonly string[] {
  const view = viewCluster({ snapshot, records: [], commands: [], now: snapshot.now });
  const gone = new Set(command.candidates);
  const candidates = findCandidates(view).all.filter(({ node }) => gone.has(node));
  const claims = new Set(candidates.map(({ nodeClaim }) => nodeClaim));
  const extraPods = candidates.flatMap(({ moving }) => moving);
  const moving = new Set(extraPods.map(({ metadata }) => metadata.uid));
  const plan = simulateWithSolve(view.snapshot, {
    excludeNodes: gone,
    extraPods,
    reservedMode: "fallback",
    settling: new Set(),
  });
  const left = {
    ...raw,
    nodes: raw.nodes.filter(({ metadata }: RawJson) => !gone.has(metadata.name)),
    nodeClaims: raw.nodeClaims.filter(({ metadata }: RawJson) => !claims.has(metadata.name)),
    pods: raw.pods
      .filter(({ metadata, spec }: RawJson) => moving.has(metadata.uid) || !gone.has(spec.nodeName))
      .map((pod: RawJson) => (moving.has(pod.metadata.uid) ? { ...pod, spec: { ...pod.spec, nodeName: undefined } } : pod)),
  };
  return judge(left, plan).map(({ text, pods }) => `${text}: ${pods.join(", ")}`);
}
