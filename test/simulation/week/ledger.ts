import { fieldsOf } from "#core/announcements/log-events.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { Pod } from "#core/model/pod.ts";
import type { Lab, TimedLogRecord } from "#lab/host.ts";
import { PRODUCT } from "#lab/world/api-server.ts";
import { claimOfNode, isDaemon, nodeOf } from "../invariants/facts.ts";
import { START } from "../story.ts";

/** The figures of one day. */
export interface Day {
  /**
   * Pods that the product evicted from nodes under consolidation; pods of daemons end with their node and are not
   * counted.
   */
  moved: number;
  /** Pods that the product evicted for another reason: drift, an interruption, a node that a user deleted. */
  movedOtherwise: number;
  /** Nodes that consolidation removed: empty nodes, nodes removed without a replacement, and replaced nodes. */
  emptied: number;
  removed: number;
  replaced: number;
  launched: number;
  fewestNodes: number;
  mostNodes: number;
  /** USD for all instances. */
  spent: number;
}

export interface Ledger {
  /** One entry for each day that has begun; the last day may be incomplete. */
  readonly days: readonly Day[];
  /** Starts to count; to be called once. */
  open(lab: Lab): void;
  hear(record: TimedLogRecord): void;
  /** Adds up the incomplete day. */
  close(lab: Lab): void;
}

const DAY_MS = 86_400_000;
const SAMPLE_MS = 10 * 60_000;

const CONSOLIDATION = new Set(["Empty", "Underutilized"]);

function reasonOf(claim: NodeClaim | undefined): string | undefined {
  return claim?.status?.conditions?.find(({ type, status }) => type === "DisruptionReason" && status === "True")?.reason;
}

/**
 * Counts disruptions and cost by day. The time after the last day, until the world is at rest, is not counted.
 */
export function ledger(count: number, onDay: (day: Day) => void = () => {}): Ledger {
  const days: Day[] = [];
  let billed = 0;
  const dayAt = (at: number): Day | undefined => days[Math.floor((at - START) / DAY_MS)];
  const begin = (): void =>
    void days.push({
      ...{ moved: 0, movedOtherwise: 0, emptied: 0, removed: 0, replaced: 0, launched: 0 },
      ...{ fewestNodes: Number.POSITIVE_INFINITY, mostNodes: 0, spent: 0 },
    });
  const bill = ({ cloud }: Lab): void => {
    const cost = cloud.cost();
    const day = days.at(-1);
    if (day) day.spent += cost - billed;
    billed = cost;
  };
  return {
    days,
    open(lab) {
      const { world, cloud } = lab;
      const { clock } = world;
      begin();
      for (let day = 1; day <= count; day++) {
        clock.at(START + day * DAY_MS - 1, "bill", () => {
          bill(lab);
          const over = days.at(-1);
          if (over) onDay(over);
          if (day < count) begin();
        });
      }
      clock.every(SAMPLE_MS, "count nodes", () => {
        const day = dayAt(clock.now());
        if (day === undefined) return;
        const nodes = world.store.list("Node").length;
        // The first sample is taken while the cluster starts, so it is not counted.
        if (clock.now() - START > SAMPLE_MS) day.fewestNodes = Math.min(day.fewestNodes, nodes);
        day.mostNodes = Math.max(day.mostNodes, nodes);
      });
      world.onChange(({ kind, user, verb, object, old }) => {
        const day = dayAt(clock.now());
        if (day === undefined || kind !== "Pod" || user !== PRODUCT || verb !== "delete") return;
        const pod = (old ?? object) as Pod;
        const node = nodeOf(pod, lab);
        if (node === undefined || isDaemon(pod)) return;
        if (CONSOLIDATION.has(reasonOf(claimOfNode(node, lab)) ?? "")) day.moved++;
        else day.movedOtherwise++;
      });
      cloud.onEvent(({ "detail-type": type, detail }) => {
        const day = dayAt(clock.now());
        if (day && type === "EC2 Instance State-change Notification" && detail["state"] === "pending") day.launched++;
      });
    },
    hear(line) {
      const day = dayAt(line.at);
      const fields = fieldsOf(line, "disrupting nodeclaim(s)");
      if (day === undefined || fields === undefined) return;
      const nodes = Number(fields["disrupted-node-count"]);
      if (fields.reason === "empty") day.emptied += nodes;
      else if (fields.reason !== "underutilized") return;
      else if (fields.decision === "replace") day.replaced += nodes;
      else day.removed += nodes;
    },
    close(lab) {
      if (days.length < count || lab.world.clock.now() < START + count * DAY_MS - 1) bill(lab);
    },
  };
}
