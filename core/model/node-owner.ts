import type { Node } from "./node.ts";
import type { NodeClaim } from "./node-claim.ts";

/**
 * The nodes of NodeClaims. A Node says of itself which instance it is, so its providerID proves nothing: the node is
 * the NodeClaim's when it also has the name under which the lifecycle registered it, which EC2 confirmed
 * (core/lifecycle/identity.ts). Before that it must be the only node of its providerID. Of several NodeClaims that name
 * one instance, the node is that one's which the lifecycle made the node's owner.
 */
interface NodeOwners {
  /** The NodeClaim of a node; undefined when it has none. */
  readonly claimOf: (node: Node) => NodeClaim | undefined;
  /** Node name to why it is not clear whose node it is. */
  readonly contested: ReadonlyMap<string, string>;
}

export function nodeOwners(nodes: readonly Node[], claims: readonly NodeClaim[]): NodeOwners {
  const byProvider = Map.groupBy(claims, ({ status }) => status?.providerID || undefined);
  const owners = new Map<Node, NodeClaim>();
  const contested = new Map<string, string>();
  for (const [providerId, alike] of Map.groupBy(nodes, ({ spec }) => spec.providerID || undefined)) {
    const named = (providerId !== undefined && byProvider.get(providerId)) || [];
    const [claim, ...others] = named.length > 1 ? named.filter((one) => alike.some((node) => isOwner(one, node))) : named;
    const names = namesOf(alike);
    if (named.length > 1 && (claim === undefined || others.length > 0)) {
      const message = `NodeClaims ${namesOf(named).join(", ")} all name the instance of ${names.join(", ")}; delete those that it was not launched for`;
      for (const name of names) contested.set(name, message);
    }
    if (claim === undefined || others.length > 0) continue;
    const registered = claim.status?.nodeName || undefined;
    const own = alike.find(({ metadata }) => metadata.name === (registered ?? alike[0]?.metadata.name));
    const unsure = alike.length > 1 || own === undefined;
    if (own !== undefined && (registered !== undefined || !unsure)) owners.set(own, claim);
    if (!unsure) continue;
    const whose = `NodeClaim ${claim.metadata.name}${registered === undefined ? "" : `, whose node is ${registered}`}`;
    const message = `${names.join(", ")} ${names.length === 1 ? "has" : "have"} the providerID of ${whose}; delete the node that is not its own`;
    for (const name of names) contested.set(name, message);
  }
  return { claimOf: (node) => owners.get(node), contested };
}

/** Whether registration made the NodeClaim the owner of the node. */
function isOwner({ metadata }: NodeClaim, node: Node): boolean {
  return node.metadata.ownerReferences?.some(({ uid }) => uid === metadata.uid) ?? false;
}

const namesOf = (objects: readonly { readonly metadata: { readonly name: string } }[]): readonly string[] =>
  objects.map(({ metadata }) => metadata.name).sort();
