import type { Node } from "./node.ts";
import type { NodeClaim } from "./node-claim.ts";

/**
 * The nodes of NodeClaims. A Node says of itself which instance it is, so its providerID proves nothing: the node is
 * the NodeClaim's when it also has the name under which the lifecycle registered it, which EC2 confirmed
 * (core/lifecycle/identity.ts). Before that it must be the only node of its providerID.
 */
export interface NodeOwners {
  /** The NodeClaim of a node; undefined when it has none. */
  readonly claimOf: (node: Node) => NodeClaim | undefined;
  /** Node name to why it is not clear whose node it is. */
  readonly contested: ReadonlyMap<string, string>;
}

export function nodeOwners(nodes: readonly Node[], claims: readonly NodeClaim[]): NodeOwners {
  const byProvider = new Map(claims.flatMap((claim) => (claim.status?.providerID ? [[claim.status.providerID, claim] as const] : [])));
  const owners = new Map<Node, NodeClaim>();
  const contested = new Map<string, string>();
  for (const [providerId, alike] of Map.groupBy(nodes, ({ spec }) => spec.providerID ?? "")) {
    const claim = byProvider.get(providerId);
    if (claim === undefined) continue;
    const registered = claim.status?.nodeName || undefined;
    const own = alike.find(({ metadata }) => metadata.name === (registered ?? alike[0]?.metadata.name));
    const unsure = alike.length > 1 || own === undefined;
    if (own !== undefined && (registered !== undefined || !unsure)) owners.set(own, claim);
    if (!unsure) continue;
    const names = alike.map(({ metadata }) => metadata.name).sort();
    const whose = `NodeClaim ${claim.metadata.name}${registered === undefined ? "" : `, whose node is ${registered}`}`;
    const message = `${names.join(", ")} ${names.length === 1 ? "has" : "have"} the providerID of ${whose}; delete the node that is not its own`;
    for (const name of names) contested.set(name, message);
  }
  return { claimOf: (node) => owners.get(node), contested };
}
