import { type Headroom, headroomOf } from "#core/capacity-buffers/headroom.ts";
import type { Referents } from "#core/capacity-buffers/resolve.ts";
import { bufferStatus, placementOf } from "#core/capacity-buffers/status.ts";
import type { CapacityBuffer } from "#core/model/capacity-buffer.ts";
import type { Condition } from "#core/model/kubernetes.ts";
import type { Plan } from "#core/model/plan.ts";
import type { Snapshot } from "#core/model/snapshot.ts";

/** The fields of a scenario that CapacityBuffers read. */
export interface BufferedScenario extends Referents {
  readonly capacityBuffers: readonly CapacityBuffer[];
}

/** The room that the CapacityBuffers of a scenario ask for. The feature gate is on when the file holds any. */
export function scenarioHeadroom(scenario: BufferedScenario): readonly Headroom[] {
  return headroomOf(scenario.capacityBuffers, scenario);
}

/** The status of a CapacityBuffer after a plan, as `kubectl get cb` would show it. */
interface BufferOutcome {
  /** "namespace/name". */
  readonly name: string;
  readonly replicas: number;
  readonly conditions: readonly Pick<Condition, "type" | "status" | "reason" | "message">[];
}

/** The outcome of a plan for each CapacityBuffer. */
export function bufferOutcomes(headroom: readonly Headroom[], plan: Plan, { nominated, now }: Snapshot): readonly BufferOutcome[] {
  return headroom.map((room) => {
    const { metadata } = room.buffer;
    const { replicas = 0, conditions = [] } = bufferStatus(room.buffer, room.resolution, placementOf(room, plan, nominated), now);
    return {
      name: `${metadata.namespace ?? "default"}/${metadata.name}`,
      replicas,
      conditions: conditions.map(({ type, status, reason = "", message = "" }) => ({ type, status, reason, message })),
    };
  });
}

/** The outcomes as text, a line each: the message of the first condition that is not True, else of the last one. */
export function explainBuffers(outcomes: readonly BufferOutcome[]): readonly string[] {
  return outcomes.map(({ name, conditions }) => {
    const decisive = conditions.find(({ status }) => status !== "True") ?? conditions.at(-1);
    return `CapacityBuffer ${name}: ${decisive?.message}`;
  });
}
