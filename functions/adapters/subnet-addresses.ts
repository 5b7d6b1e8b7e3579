import type { CountedAddresses } from "../../core/launch/free-addresses.ts";
import type { NodeClaimStore } from "../../core/ports/node-claim-store.ts";

/**
 * The number of free addresses per subnet, from the catalog function to launches. It changes with every pod, so it is
 * stored as a document and not in the EC2NodeClass's status.
 */

const nameOf = (cluster: string, nodeClass: string): string => `subnets/${cluster}/${nodeClass}`;

/** Stores the counts for an EC2NodeClass's subnets. */
export async function storeAddresses(
  store: Pick<NodeClaimStore, "putDocument">,
  { cluster, nodeClass }: { readonly cluster: string; readonly nodeClass: string },
  counted: CountedAddresses,
): Promise<void> {
  await store.putDocument(nameOf(cluster, nodeClass), new TextEncoder().encode(JSON.stringify(counted)), String(counted.at));
}

/** Reads the counts; undefined when none have been stored yet. */
export async function readAddresses(
  store: Pick<NodeClaimStore, "getDocument">,
  { cluster, nodeClass }: { readonly cluster: string; readonly nodeClass: string },
): Promise<CountedAddresses | undefined> {
  const document = await store.getDocument(nameOf(cluster, nodeClass));
  return document && (JSON.parse(new TextDecoder().decode(document.bytes)) as CountedAddresses);
}
