import { jsonBytes, jsonIn } from "#adapters/store/json-bytes.ts";
import { readDocument } from "#adapters/store/read-document.ts";
import type { Log } from "#core/ports/log.ts";
import type { NodeClaimStore } from "#core/ports/node-claim-store.ts";
import { type LostPurchase, type Purchases, withLostPurchases } from "#core/provisioning/purchases.ts";
import type { ClusterDeps } from "./cluster-deps.ts";

interface ReadDeps {
  readonly cluster: Pick<ClusterDeps["cluster"], "name">;
  readonly store: Partial<Pick<NodeClaimStore, "getDocument">>;
  readonly log?: Log;
}

const nameOf = ({ cluster }: ReadDeps): string => `purchases/${cluster.name}`;

/** The machines that were bought for pods for nothing. Where no table is read, as by a command, there are none. */
export async function readPurchases(deps: ReadDeps): Promise<Purchases> {
  const { getDocument } = deps.store;
  if (getDocument === undefined) return {};
  const reading = { name: nameOf(deps), what: "Which machines were bought for nothing", parse: parsed };
  return (await readDocument({ ...deps, store: { getDocument } }, reading))?.value ?? {};
}

function parsed(bytes: Uint8Array): Purchases | undefined {
  const read = jsonIn(bytes) as Purchases;
  return Object.values(read).every((claims) => Object.values(claims).every(Number.isFinite)) ? read : undefined;
}

/** Remembers machines that were bought for nothing. Of two invocations at one moment, one may overwrite the other. */
export async function keepLostPurchases(
  lost: readonly LostPurchase[],
  deps: Pick<ClusterDeps, "cluster" | "store" | "log" | "now">,
): Promise<void> {
  const after = withLostPurchases(await readPurchases(deps), lost, deps.now());
  await deps.store.putDocument(nameOf(deps), jsonBytes(after), String(deps.now()));
}
