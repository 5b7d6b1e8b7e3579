import { type Headroom, headroomOf } from "../../core/capacity-buffers/headroom.ts";
import type { Referents } from "../../core/capacity-buffers/resolve.ts";
import { bufferStatus, placementOf } from "../../core/capacity-buffers/status.ts";
import type { CapacityBuffer } from "../../core/model/capacity-buffer.ts";
import type { Condition } from "../../core/model/kubernetes.ts";
import type { Plan } from "../../core/model/plan.ts";
import type { Snapshot } from "../../core/model/snapshot.ts";

/** The parts of a scenario that CapacityBuffers are about. */
export interface BufferedScenario extends Referents {
  readonly capacityBuffers: readonly CapacityBuffer[];
}

/** What the scenario's buffers want: that they are in the file is their gate. */
export function scenarioHeadroom(scenario: BufferedScenario): readonly Headroom[] {
  return headroomOf(scenario.capacityBuffers, scenario);
}

/** A buffer after a plan, as `kubectl get cb` would show it. */
export interface BufferOutcome {
  /** "namespace/name". */
  readonly name: string;
  readonly replicas: number;
  readonly conditions: readonly Pick<Condition, "type" | "status" | "reason" | "message">[];
}

/** What a plan comes to for each buffer. */
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

/** The outcomes for people, a line each: of the conditions the first that is not True, else the last. */
export function explainBuffers(outcomes: readonly BufferOutcome[]): readonly string[] {
  return outcomes.map(({ name, conditions }) => {
    const telling = conditions.find(({ status }) => status !== "True") ?? conditions.at(-1);
    return `CapacityBuffer ${name}: ${telling?.message}`;
  });
}
