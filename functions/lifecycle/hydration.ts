import { hydrated } from "#core/lifecycle/hydration.ts";
import type { Instance } from "#core/model/instance.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import type { LifecycleDeps } from "../shared/cluster-deps.ts";
import { ignoreConflict } from "../shared/optimistic.ts";
import { readLaunchView } from "./launch/view.ts";
import { launchPrice } from "./launch/write-launched.ts";

/**
 * After an update of the product every record may lack fields; the next sweep takes the rest. No benchmark has tuned
 * it.
 */
const MAX_UPDATES_PER_SWEEP = 200;

/**
 * Completes records with what EC2 reports about their instances beyond what the launch returned
 * (karpenter: pkg/controllers/nodeclaim/hydration/controller.go, Controller.Reconcile). A record that another has
 * written meanwhile is left to the next sweep.
 */
export async function hydrateRecords(
  records: readonly NodeClaimRecord[],
  instances: readonly Instance[],
  { store }: Pick<LifecycleDeps, "store">,
): Promise<void> {
  const byId = new Map(instances.map((instance) => [instance.id, instance]));
  const news = records.flatMap((record) => {
    const instance = byId.get(record.instance?.id ?? "");
    return (instance && hydrated(record, instance)) ?? [];
  });
  for (const next of news.slice(0, MAX_UPDATES_PER_SWEEP)) await ignoreConflict(store.update(next));
}

/** Prices are read with the NodeClaim's EC2NodeClass, one call each; the next sweep takes the rest. */
const MAX_PRICES_PER_SWEEP = 50;

/**
 * Completes the records of machines whose price at launch is not known, because they were adopted, with the price as of
 * now and the name of the node: the history counts dollars with it. A price that is not known is not read again.
 */
export async function hydratePrices(records: readonly NodeClaimRecord[], claims: readonly NodeClaim[], deps: LifecycleDeps): Promise<void> {
  const byName = new Map(claims.map((claim) => [claim.metadata.name, claim]));
  const lacking = records.filter(
    ({ instance, launchPrice: price, terminating }) => instance !== undefined && price === undefined && terminating === undefined,
  );
  for (const record of lacking.slice(0, MAX_PRICES_PER_SWEEP)) {
    const claim = byName.get(record.name);
    if (claim === undefined || record.instance === undefined) continue;
    const { instanceTypes } = await readLaunchView(claim, deps);
    const nodeName = record.nodeName ?? claim.status?.nodeName;
    const next = { ...record, launchPrice: launchPrice(record.instance, instanceTypes), ...(nodeName !== undefined && { nodeName }) };
    await ignoreConflict(deps.store.update(next));
  }
}
