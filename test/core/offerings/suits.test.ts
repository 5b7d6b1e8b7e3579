import { describe, expect, it } from "vitest";
import type { EC2NodeClassSpec, ResolvedPlacementGroup } from "#core/model/node-class.ts";
import { suits } from "#core/offerings/suits.ts";
import { catalogue, nodeClass, typesOf } from "../launch/support.ts";

function type(name: string) {
  const found = catalogue.types.find((known) => known.name === name);
  if (found === undefined) throw new Error(`no ${name} in the catalogue`);
  return found;
}

const primary = { networkCardIndex: 0, deviceIndex: 0, interfaceType: "interface" as const };
const efa = (networkCardIndex: number, deviceIndex: number) => ({ networkCardIndex, deviceIndex, interfaceType: "efa-only" as const });

describe("suits", () => {
  it.for<{ name: string; of: string; spec?: Partial<EC2NodeClassSpec>; group?: ResolvedPlacementGroup; want: boolean }>([
    { name: "no special fields", of: "m5.large", want: true },
    {
      name: "an interface on each of four cards",
      of: "p4d.24xlarge",
      spec: { networkInterfaces: [primary, efa(1, 1), efa(2, 1), efa(3, 1)] },
      want: true,
    },
    {
      name: "a network card that it does not have",
      of: "m5.large",
      spec: { networkInterfaces: [primary, { ...primary, networkCardIndex: 1, deviceIndex: 1 }] },
      want: false,
    },
    {
      name: "a device beyond its three",
      of: "m5.large",
      spec: { networkInterfaces: [primary, { ...primary, deviceIndex: 3 }] },
      want: false,
    },
    { name: "an EFA although it has none", of: "m5.large", spec: { networkInterfaces: [primary, efa(0, 1)] }, want: false },
    { name: "more EFAs than it has", of: "m5.24xlarge", spec: { networkInterfaces: [primary, efa(0, 1), efa(0, 2)] }, want: false },
    {
      name: "as many prefixes as an interface has addresses",
      of: "m5.large",
      spec: { networkInterfaces: [primary], ipPrefixCount: 10 },
      want: false,
    },
    { name: "interfaces of a type without elastic adapter", of: "m3.large", spec: { networkInterfaces: [primary] }, want: false },
    { name: "nested virtualization", of: "m5.large", spec: { cpuOptions: { nestedVirtualization: "enabled" } }, want: false },
    {
      name: "nested virtualization, which it supports",
      of: "m8i.large",
      spec: { cpuOptions: { nestedVirtualization: "enabled" } },
      want: true,
    },
    { name: "enclaves", of: "m5.large", spec: { enclaveOptions: { enabled: true } }, want: false },
    { name: "enclaves, which it supports", of: "m5.xlarge", spec: { enclaveOptions: { enabled: true } }, want: true },
    { name: "no enclaves", of: "m5.large", spec: { enclaveOptions: { enabled: false } }, want: true },
    { name: "connection tracking on Nitro", of: "m5.large", spec: { connectionTracking: { udpTimeout: 30 } }, want: true },
    { name: "connection tracking on Xen", of: "m4.large", spec: { connectionTracking: { udpTimeout: 30 } }, want: false },
    { name: "a cluster placement group", of: "m5.large", group: { id: "pg-1", strategy: "cluster" }, want: true },
    { name: "a cluster placement group, for a burstable type", of: "t3.large", group: { id: "pg-1", strategy: "cluster" }, want: false },
    { name: "a spread placement group, for a burstable type", of: "t3.large", group: { id: "pg-1", strategy: "spread" }, want: true },
  ])("$of suits a NodeClass with $name: $want", ({ of, spec = {}, group, want }) => {
    const made = nodeClass({ spec, status: { ...nodeClass().status, ...(group && { placementGroup: group }) } });
    expect(suits(type(of), made)).toBe(want);
    const offered = typesOf({ nodeClass: made }).find(({ name }) => name === of)?.offerings ?? [];
    expect(offered.some(({ available }) => available)).toBe(want);
  });
});

describe("listed interfaces", () => {
  const made = nodeClass({ spec: { networkInterfaces: [primary, efa(0, 1), efa(1, 1)] } });
  const capacityOf = (spec: typeof made) => typesOf({ nodeClass: spec }).find(({ name }) => name === "p4d.24xlarge")?.capacity ?? {};

  it("listed interfaces decide the number of EFAs, and those on the first card take addresses from pods", () => {
    expect(capacityOf(nodeClass())).toMatchObject({ "vpc.amazonaws.com/efa": "4", pods: "737" });
    expect(capacityOf(made)).toMatchObject({ "vpc.amazonaws.com/efa": "2", pods: String(14 * 49 + 2) });
  });
});

it.for([
  { name: "a type that an image boots is for sale", type: "m5.large", amis: ["ami-amd"], want: true },
  { name: "a type that no image boots is not for sale", type: "m6g.large", amis: ["ami-amd"], want: false },
  { name: "until images are known, all types are for sale", type: "m6g.large", amis: [], want: true },
])("$name", ({ type: name, amis, want }) => {
  const known = nodeClass().status?.amis?.filter(({ id }) => amis.includes(id)) ?? [];
  const found = typesOf({ nodeClass: nodeClass({ status: { amis: known } }) }).find((one) => one.name === name);
  expect(found?.offerings.some(({ available }) => available)).toBe(want);
});
