import {
  DescribeCapacityReservationsCommand,
  type DescribeCapacityReservationsCommandInput,
  DescribePlacementGroupsCommand,
  type EC2Client,
  type CapacityReservation as Ec2CapacityReservation,
} from "@aws-sdk/client-ec2";
import type { CapacityReservationSelectorTerm, PlacementGroupSelector, ResolvedPlacementGroup } from "#core/model/node-class.ts";
import type { CapacityReservation } from "#core/ports/cloud-inventory.ts";
import { NotFoundError } from "#core/ports/errors.ts";
import { codeOf, toDomainError } from "./errors.ts";
import { allPages } from "./pages.ts";
import { reservationQueries } from "./selectors.ts";

const ACTIVE = { Name: "state", Values: ["active"] };

/** The active capacity reservations that selector terms match, each once. An unknown id is no error. */
export async function capacityReservations(
  ec2: EC2Client,
  terms: readonly CapacityReservationSelectorTerm[],
): Promise<readonly CapacityReservation[]> {
  const found = new Map<string, CapacityReservation>();
  const ask = async (input: DescribeCapacityReservationsCommandInput): Promise<void> => {
    const page = await allPages(
      (NextToken) => ec2.send(new DescribeCapacityReservationsCommand({ ...input, NextToken })),
      (answer) => answer.CapacityReservations,
      (answer) => answer.NextToken,
    );
    for (const reservation of page.flatMap(toReservation)) found.set(reservation.id, reservation);
  };
  // One call per id: an unknown id fails its whole call, and there is no filter by id. EC2 accepts no page size
  // together with ids.
  for (const id of new Set(terms.flatMap((term) => term.id ?? []))) {
    try {
      await ask({ CapacityReservationIds: [id], Filters: [ACTIVE] });
    } catch (error) {
      if (!(error instanceof NotFoundError)) throw error;
    }
  }
  for (const { filters } of reservationQueries(terms)) await ask({ Filters: [ACTIVE, ...filters], MaxResults: 1000 });
  return [...found.values()];
}

/**
 * The reservation in the form of the port; empty for kinds of reservation that are not known yet, so that nothing is
 * launched into them by mistake.
 */
function toReservation(reservation: Ec2CapacityReservation): readonly CapacityReservation[] {
  const { CapacityReservationId: id, InstanceMatchCriteria: criteria, ReservationType: type = "default", EndDate } = reservation;
  if (id === undefined || (criteria !== "open" && criteria !== "targeted")) return [];
  if (type !== "default" && type !== "capacity-block") return [];
  return [
    {
      id,
      zone: reservation.AvailabilityZone ?? "",
      instanceType: reservation.InstanceType ?? "",
      instanceMatchCriteria: criteria,
      ownerID: reservation.OwnerId ?? "",
      reservationType: type,
      interruptible: reservation.Interruptible ?? false,
      availableInstances: reservation.AvailableInstanceCount ?? 0,
      ...(EndDate && { endTime: EndDate.toISOString() }),
    },
  ];
}

/** The available placement group with a name or id; undefined when there is none. */
export async function placementGroup(ec2: EC2Client, { id, name }: PlacementGroupSelector): Promise<ResolvedPlacementGroup | undefined> {
  try {
    const { PlacementGroups: [group] = [] } = await ec2.send(
      new DescribePlacementGroupsCommand({
        ...(id === undefined ? { GroupNames: [name ?? ""] } : { GroupIds: [id] }),
        Filters: [{ Name: "state", Values: ["available"] }],
      }),
    );
    const { GroupId, GroupName, Strategy, PartitionCount } = group ?? {};
    // "precision-time" groups are for clocks, not for nodes.
    if (GroupId === undefined || Strategy === undefined || Strategy === "precision-time") return undefined;
    return {
      id: GroupId,
      strategy: Strategy,
      ...(GroupName && { name: GroupName }),
      ...(PartitionCount && { partitionCount: PartitionCount }),
    };
  } catch (error) {
    if (codeOf(error) === "InvalidPlacementGroup.Unknown") return undefined;
    throw toDomainError(error);
  }
}
