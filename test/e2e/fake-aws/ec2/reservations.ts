import type {
  CapacityReservation,
  DescribeCapacityReservationsRequest,
  DescribeCapacityReservationsResult,
  DescribePlacementGroupsRequest,
  DescribePlacementGroupsResult,
  PlacementGroup,
} from "@aws-sdk/client-ec2";
import { AwsError } from "../errors.ts";
import type { FakeAwsState, Tags } from "../world.ts";
import { type Facets, page, select } from "./select.ts";

type Tagged<T> = { readonly record: T; readonly tags: Tags };

const tagged = <T extends { Tags?: { Key?: string | undefined; Value?: string | undefined }[] | undefined }>(record: T): Tagged<T> => ({
  record,
  tags: new Map((record.Tags ?? []).map(({ Key = "", Value = "" }) => [Key, Value])),
});

const RESERVATION_FACETS: Facets<Tagged<CapacityReservation>> = {
  state: ({ record }) => record.State,
  "owner-id": ({ record }) => record.OwnerId,
  "instance-match-criteria": ({ record }) => record.InstanceMatchCriteria,
  "instance-type": ({ record }) => record.InstanceType,
  "availability-zone": ({ record }) => record.AvailabilityZone,
};

export function describeCapacityReservations(
  world: FakeAwsState,
  request: DescribeCapacityReservationsRequest,
): DescribeCapacityReservationsResult {
  const ids = request.CapacityReservationIds ?? [];
  const unknown = ids.filter((id) => !world.capacityReservations.some(({ CapacityReservationId }) => CapacityReservationId === id));
  if (unknown.length > 0) {
    throw new AwsError("InvalidCapacityReservationId.NotFound", `The capacity reservation ID '${unknown.join(", ")}' does not exist`);
  }
  const named = world.capacityReservations.filter(
    ({ CapacityReservationId }) => ids.length === 0 || ids.includes(CapacityReservationId ?? ""),
  );
  const chosen = select(named.map(tagged), request.Filters, RESERVATION_FACETS);
  const { items, next } = page(chosen, request, { min: 1, max: 1000 });
  return { CapacityReservations: items.map(({ record }) => record), ...(next === undefined ? {} : { NextToken: next }) };
}

const GROUP_FACETS: Facets<Tagged<PlacementGroup>> = {
  state: ({ record }) => record.State,
  strategy: ({ record }) => record.Strategy,
  "group-name": ({ record }) => record.GroupName,
};

export function describePlacementGroups(world: FakeAwsState, request: DescribePlacementGroupsRequest): DescribePlacementGroupsResult {
  const { GroupIds: ids = [], GroupNames: names = [] } = request;
  const known = world.placementGroups;
  const unknown = [
    ...ids.filter((id) => !known.some(({ GroupId }) => GroupId === id)),
    ...names.filter((name) => !known.some(({ GroupName }) => GroupName === name)),
  ];
  if (unknown.length > 0) throw new AwsError("InvalidPlacementGroup.Unknown", `The Placement Group '${unknown.join(", ")}' is unknown.`);
  const named = known.filter(
    ({ GroupId = "", GroupName = "" }) => (ids.length === 0 || ids.includes(GroupId)) && (names.length === 0 || names.includes(GroupName)),
  );
  return { PlacementGroups: select(named.map(tagged), request.Filters, GROUP_FACETS).map(({ record }) => record) };
}
