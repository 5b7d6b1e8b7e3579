import { ownValue } from "../lib/own-value.ts";
import { isTrue } from "../model/conditions.ts";
import { INITIALIZED } from "../model/labels.ts";
import type { Node } from "../model/node.ts";
import type { NodeClaim } from "../model/node-claim.ts";
import { parseQuantity } from "../model/quantity.ts";
import { isEphemeralTaint } from "../scheduling/problem/node-view.ts";

/** Why a registered node is not initialized; `reason` is the reason of the NodeClaim's condition. */
interface NotInitialized {
  readonly reason: "NodeNotReady" | "StartupTaintsExist" | "KnownEphemeralTaintsExist" | "ResourceNotRegistered";
  readonly message: string;
}

/**
 * The first condition of initialization that the node does not meet: Ready, startup taints removed, ephemeral taints
 * removed, requested resources registered. Undefined when the node is initialized
 * (karpenter: pkg/controllers/nodeclaim/lifecycle/initialization.go, Initialization.Reconcile).
 */
export function whatIsMissing(node: Node, claim: NodeClaim): NotInitialized | undefined {
  const taints = node.spec.taints ?? [];
  const startup = (claim.spec.startupTaints ?? []).find((wanted) =>
    taints.some(({ key, effect }) => key === wanted.key && effect === wanted.effect),
  );
  const ephemeral = taints.find(isEphemeralTaint);
  const resource = Object.entries(claim.spec.resources?.requests ?? {}).find(
    ([name, quantity]) => parseQuantity(quantity) > 0 && parseQuantity(ownValue(node.status?.allocatable, name) ?? 0) === 0,
  )?.[0];
  if (!isTrue(node.status?.conditions, "Ready")) {
    return { reason: "NodeNotReady", message: `Node ${node.metadata.name} is not Ready yet` };
  }
  if (startup) return { reason: "StartupTaintsExist", message: `Startup taint "${startup.key}:${startup.effect}" still exists` };
  if (ephemeral) return { reason: "KnownEphemeralTaintsExist", message: `Taint "${ephemeral.key}:${ephemeral.effect}" still exists` };
  if (resource) return { reason: "ResourceNotRegistered", message: `Resource "${resource}" was requested but not registered` };
  return undefined;
}

export const isInitialized = ({ metadata }: Node): boolean => metadata.labels?.[INITIALIZED] === "true";

export const initializedNode = (node: Node): Node => ({
  ...node,
  metadata: { ...node.metadata, labels: { ...node.metadata.labels, [INITIALIZED]: "true" } },
});
