import type { Node } from "#core/model/node.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { EC2NodeClass } from "#core/model/node-class.ts";
import { usableMemoryMib } from "#core/offerings/capacity.ts";
import type { Catalogue } from "#core/offerings/catalogue.ts";
import { observeMemory, SEEN_MEMORY } from "#core/offerings/seen-memory.ts";
import { ignoreConflictOrGone } from "../shared/optimistic.ts";
import type { CatalogDeps } from "./deps.ts";

/** The nodes of a cluster, and the instance types of its region. */
interface Surroundings {
  readonly nodes: readonly Node[];
  readonly nodeClaims: readonly NodeClaim[];
  readonly catalogue: Catalogue;
}

/**
 * Stores on an EC2NodeClass how much memory its nodes turned out to have, when that has changed. Returns the present
 * class.
 */
export async function noteMemory(
  nodeClass: EC2NodeClass,
  { nodes, nodeClaims, catalogue }: Surroundings,
  { kubernetes, settings, now }: Pick<CatalogDeps, "kubernetes" | "settings" | "now">,
): Promise<EC2NodeClass> {
  const guessMib = (name: string): number | undefined => {
    const type = catalogue.types.find((known) => known.name === name);
    return type && usableMemoryMib(type, settings.vmMemoryOverheadPercent);
  };
  const note = observeMemory(nodeClass, { nodes, nodeClaims, guessMib, now: now() });
  const { [SEEN_MEMORY]: before, ...others } = nodeClass.metadata.annotations ?? {};
  if (note === before || nodeClass.metadata.deletionTimestamp !== undefined) return nodeClass;
  const annotations = note === undefined ? others : { ...others, [SEEN_MEMORY]: note };
  const metadata = { ...nodeClass.metadata, annotations };
  return (await ignoreConflictOrGone(kubernetes.update("EC2NodeClass", { ...nodeClass, metadata }))) ?? nodeClass;
}
