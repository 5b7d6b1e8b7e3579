import type { CountedAddresses } from "../../core/launch/free-addresses.ts";
import type { NodeClaimStore } from "../../core/ports/node-claim-store.ts";

/** How the catalog function tells launches how many addresses subnets have left: they change with every pod, so no status holds them. */

const nameOf = (cluster: string, nodeClass: string): string => `subnets/${cluster}/${nodeClass}`;

/** Writes the counts of a NodeClass's subnets down. */
export async function storeAddresses(
  store: Pick<NodeClaimStore, "putDocument">,
  { cluster, nodeClass }: { readonly cluster: string; readonly nodeClass: string },
  counted: CountedAddresses,
): Promise<void> {
  await store.putDocument(nameOf(cluster, nodeClass), new TextEncoder().encode(JSON.stringify(counted)), String(counted.at));
}

/** Reads them; undefined when nobody has counted yet. */
export async function readAddresses(
  store: Pick<NodeClaimStore, "getDocument">,
  { cluster, nodeClass }: { readonly cluster: string; readonly nodeClass: string },
): Promise<CountedAddresses | undefined> {
  const document = await store.getDocument(nameOf(cluster, nodeClass));
  return document && (JSON.parse(new TextDecoder().decode(document.bytes)) as CountedAddresses);
}
