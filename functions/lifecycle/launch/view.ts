import type { InstanceType } from "../../../core/model/instance-type.ts";
import type { NodeClaim } from "../../../core/model/node-claim.ts";
import type { NodeClaimRecord } from "../../../core/model/node-claim-record.ts";
import type { EC2NodeClass } from "../../../core/model/node-class.ts";
import type { UnavailableOffering } from "../../../core/model/unavailable-offering.ts";
import { heldReservations } from "../../../core/offerings/reservations.ts";
import type { LifecycleDeps } from "../../shared/cluster-deps.ts";
import { instanceTypesFor } from "../../shared/instance-types.ts";
import { freeAddressesFor } from "./subnets.ts";
import { launchTypes } from "./types.ts";

/** What a launch is rendered and read from. */
export interface LaunchView {
  readonly nodeClass: EC2NodeClass | undefined;
  readonly instanceTypes: readonly InstanceType[];
  readonly unavailable: readonly UnavailableOffering[];
  /** By subnet; only where it was asked what can be bought and a zone has a choice. */
  readonly freeIps: Readonly<Record<string, number>> | undefined;
}

/** Reads a claim's class and what can be had with it. `toBuy`: the record to launch for, so that what others have taken counts, and what is sold out for a while is left out. */
export async function readLaunchView(
  claim: NodeClaim,
  deps: LifecycleDeps,
  { toBuy }: { readonly toBuy?: NodeClaimRecord } = {},
): Promise<LaunchView> {
  const { cluster, kubernetes, store, settings } = deps;
  const [nodeClass, catalogue, unavailable] = await Promise.all([
    kubernetes.get("EC2NodeClass", claim.spec.nodeClassRef.name),
    deps.catalogue(),
    toBuy ? store.unavailable(cluster.name, deps.now()) : [],
  ]);
  let listed: Promise<readonly NodeClaimRecord[]> | undefined;
  const others = async (): Promise<readonly NodeClaimRecord[]> => {
    listed ??= store.list(cluster.name);
    return (await listed).filter(({ name }) => name !== toBuy?.name);
  };
  const held = toBuy && nodeClass?.status?.capacityReservations?.length ? heldReservations(await others()) : undefined;
  const typesOf = (known: EC2NodeClass) => instanceTypesFor(catalogue, known, unavailable, settings, held);
  const instanceTypes = nodeClass ? await launchTypes(claim, nodeClass, typesOf, deps) : [];
  const freeIps = toBuy && nodeClass ? await freeAddressesFor(nodeClass, others, instanceTypes, deps) : undefined;
  return { nodeClass, instanceTypes, unavailable, freeIps };
}
