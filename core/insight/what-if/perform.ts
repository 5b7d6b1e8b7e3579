import type { CommandAction } from "../../disruption/command/command-action.ts";
import { withDisruptedTaint, withoutDisruptedTaint } from "../../lifecycle/disrupted-taint.ts";
import { withCondition, withoutCondition } from "../../model/conditions.ts";
import type { Condition } from "../../model/kubernetes.ts";
import type { Node } from "../../model/node.ts";
import type { ClaimReason } from "../../model/node-claim-record.ts";
import { buy, remove, type Stage } from "./stage.ts";

/**
 * Performs an action of a command on the stage, as the shell would on the cluster. Events, log lines and metrics are
 * dropped.
 */
export function perform(stage: Stage, action: CommandAction): Stage {
  switch (action.type) {
    case "Taint":
      return changeNode(stage, action.node, withDisruptedTaint);
    case "Untaint":
      return changeNode(stage, action.node, withoutDisruptedTaint);
    case "SetDisruptionReason":
      return changeConditions(stage, action.claim, (conditions, now) =>
        withCondition(conditions, { type: "DisruptionReason", status: "True", reason: action.reason }, { now }),
      );
    case "ClearDisruptionReason":
      return changeConditions(stage, action.claim, (conditions) => withoutCondition(conditions, "DisruptionReason"));
    case "WriteReplacements": {
      const reason = action.command.reason.toLowerCase() as ClaimReason;
      return buy(
        stage,
        action.replacements.map(({ planned, intentId, name }) => ({ planned, id: intentId, name, reason })),
      ).stage;
    }
    case "DeleteClaim":
      return remove(stage, action.claim);
    case "RequestReboot":
    case "Event":
    case "Log":
    case "Count":
      return stage;
  }
}

function changeNode(stage: Stage, name: string, change: (node: Node) => Node | undefined): Stage {
  const { snapshot } = stage;
  const nodes = snapshot.nodes.map((node) => (node.metadata.name === name ? (change(node) ?? node) : node));
  return { ...stage, snapshot: { ...snapshot, nodes } };
}

type Conditions = readonly Condition[];

function changeConditions(stage: Stage, name: string, change: (conditions: Conditions, now: number) => Conditions): Stage {
  const { snapshot } = stage;
  const nodeClaims = snapshot.nodeClaims.map((claim) =>
    claim.metadata.name === name
      ? { ...claim, status: { ...claim.status, conditions: change(claim.status?.conditions ?? [], snapshot.now) } }
      : claim,
  );
  return { ...stage, snapshot: { ...snapshot, nodeClaims } };
}
