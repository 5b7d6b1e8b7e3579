import type { Filter } from "@aws-sdk/client-ec2";
import type {
  AmiSelectorTerm,
  CapacityReservationSelectorTerm,
  SecurityGroupSelectorTerm,
  SubnetSelectorTerm,
} from "#core/model/node-class.ts";

/** The filters of one describe call, all of which must match; `owners` is for images. */
interface Query {
  readonly filters: readonly Filter[];
  readonly owners?: readonly string[];
}

/**
 * Queries of subnet or security group terms: one for all ids, one for all names, one per term of tags. A term with an
 * id is selected by the id (karpenter-provider-aws: pkg/providers/subnet/subnet.go, getFilterSets).
 */
export function queriesFor(
  terms: readonly (SubnetSelectorTerm & Pick<SecurityGroupSelectorTerm, "name">)[],
  filterNames: { readonly id: string; readonly name?: string },
): readonly Query[] {
  const ids = terms.flatMap(({ id }) => id ?? []);
  const names = terms.flatMap(({ id, name }) => (id === undefined && name !== undefined ? name : []));
  const tagged = terms.filter(({ id, name, tags }) => id === undefined && name === undefined && tags && Object.keys(tags).length > 0);
  return [
    ...(ids.length > 0 ? [{ filters: [{ Name: filterNames.id, Values: ids }] }] : []),
    ...(names.length > 0 && filterNames.name ? [{ filters: [{ Name: filterNames.name, Values: names }] }] : []),
    ...tagged.map(({ tags }) => ({ filters: tagFilters(tags) })),
  ];
}

/**
 * Queries of AMI terms that name neither alias nor SSM parameter: one for all ids, one per other term
 * (karpenter-provider-aws: pkg/providers/amifamily/ami.go, DefaultProvider.DescribeImageQueries).
 */
export function imageQueries(terms: readonly AmiSelectorTerm[], parameterValues: readonly string[] = []): readonly Query[] {
  const ids = [...terms.flatMap(({ id }) => id ?? []), ...parameterValues];
  const others = terms.filter(({ id, alias, ssmParameter }) => id === undefined && alias === undefined && ssmParameter === undefined);
  return [
    ...(ids.length > 0 ? [{ filters: [{ Name: "image-id", Values: ids }] }] : []),
    ...others
      .filter(({ name, owner, tags }) => name !== undefined || owner !== undefined || Object.keys(tags ?? {}).length > 0)
      .map(({ name, owner, tags }) => ({
        filters: [...(name === undefined ? [] : [{ Name: "name", Values: [name] }]), ...tagFilters(tags)],
        ...(owner !== undefined ? { owners: [owner] } : name !== undefined ? { owners: ["self", "amazon"] } : {}),
      })),
  ];
}

/**
 * Queries of capacity reservation terms without an id: one per term
 * (karpenter-provider-aws: pkg/providers/capacityreservation/types.go, QueriesFromSelectorTerms).
 */
export function reservationQueries(terms: readonly CapacityReservationSelectorTerm[]): readonly Query[] {
  return terms
    .filter(({ id }) => id === undefined)
    .map(({ ownerID, instanceMatchCriteria, tags }) => ({
      filters: [
        ...(ownerID === undefined ? [] : [{ Name: "owner-id", Values: [ownerID] }]),
        ...(instanceMatchCriteria === undefined ? [] : [{ Name: "instance-match-criteria", Values: [instanceMatchCriteria] }]),
        ...tagFilters(tags),
      ],
    }));
}

/** The value "*" selects by the key alone. */
function tagFilters(tags: Readonly<Record<string, string>> | undefined): Filter[] {
  return Object.entries(tags ?? {}).map(([key, value]) =>
    value === "*" ? { Name: "tag-key", Values: [key] } : { Name: `tag:${key}`, Values: [value] },
  );
}
