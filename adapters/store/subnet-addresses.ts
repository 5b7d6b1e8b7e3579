import type { CountedAddresses } from "#core/launch/free-addresses.ts";
import type { NodeClaimStore } from "#core/ports/node-claim-store.ts";
import { jsonBytes, jsonIn } from "./json-bytes.ts";
import { readDocument } from "./read-document.ts";

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
  await store.putDocument(nameOf(cluster, nodeClass), jsonBytes(counted), String(counted.at));
}

/** Reads the counts; undefined when none have been stored yet, or none that can be read. */
export async function readAddresses(
  deps: Parameters<typeof readDocument>[0],
  { cluster, nodeClass }: { readonly cluster: string; readonly nodeClass: string },
): Promise<CountedAddresses | undefined> {
  const what = `The count of free addresses for EC2NodeClass ${nodeClass}`;
  return (await readDocument(deps, { name: nameOf(cluster, nodeClass), what, parse: parsed }))?.value;
}

function parsed(bytes: Uint8Array): CountedAddresses | undefined {
  const read = jsonIn(bytes) as CountedAddresses;
  return Number.isFinite(read.at) && Object.values(read.free).every(Number.isFinite) ? read : undefined;
}
