import { describe, expect, it } from "vitest";
import { launchTemplateData } from "#adapters/aws/launch-template-data.ts";
import type { LaunchTemplate } from "#core/model/fleet.ts";

const TEMPLATE: LaunchTemplate = {
  ...{ name: "karpenter.k8s.aws/0", imageId: "ami-1", userData: "", instanceProfile: "p", securityGroupIds: ["sg-1"] },
  ...{ blockDeviceMappings: [], detailedMonitoring: false, tags: { a: "b" } },
  metadataOptions: { httpEndpoint: "enabled", httpProtocolIPv6: "disabled", httpPutResponseHopLimit: 1, httpTokens: "required" },
};
const Groups = ["sg-1"];
const card = (index: number, type: "interface" | "efa" | "efa-only") => ({ card: index, device: index === 0 ? 0 : 1, type });

describe("network interfaces of a template", () => {
  it.for<{ name: string; of: Partial<LaunchTemplate>; want: object[] }>([
    { name: "one, where nothing is said", of: {}, want: [{ DeviceIndex: 0, Groups }] },
    {
      name: "one with prefixes and a public address",
      of: { ipPrefixCount: 2, associatePublicIPAddress: false },
      want: [{ DeviceIndex: 0, Groups, AssociatePublicIpAddress: false, Ipv4PrefixCount: 2 }],
    },
    {
      name: "one with an IPv6 address of its own and prefixes",
      of: { ipv6: true, ipPrefixCount: 1 },
      want: [{ DeviceIndex: 0, Groups, PrimaryIpv6: true, Ipv6AddressCount: 1, Ipv6PrefixCount: 1 }],
    },
    {
      name: "an EFA on each card; no address is promised where EC2 gives none",
      of: { networkInterfaces: [card(0, "efa"), card(1, "efa")], associatePublicIPAddress: false },
      want: [
        { DeviceIndex: 0, InterfaceType: "efa", Groups },
        { NetworkCardIndex: 1, DeviceIndex: 1, InterfaceType: "efa", Groups },
      ],
    },
    {
      name: "EFAs without addresses beside an ordinary one",
      of: { networkInterfaces: [card(0, "interface"), card(1, "efa-only")], ipPrefixCount: 1, connectionTracking: { udpTimeout: 30 } },
      want: [
        { DeviceIndex: 0, Groups, Ipv4PrefixCount: 1, ConnectionTrackingSpecification: { UdpTimeout: 30 } },
        { NetworkCardIndex: 1, DeviceIndex: 1, InterfaceType: "efa-only", Groups },
      ],
    },
  ])("$name", ({ of, want }) => {
    expect(launchTemplateData({ ...TEMPLATE, ...of }, "us-west-2").NetworkInterfaces).toEqual(want);
  });
});

it.for<{ name: string; of: Partial<LaunchTemplate>; want: object }>([
  { name: "nested virtualization", of: { nestedVirtualization: "enabled" }, want: { CpuOptions: { NestedVirtualization: "enabled" } } },
  { name: "enclaves", of: { enclaves: true }, want: { EnclaveOptions: { Enabled: true } } },
  { name: "a placement group", of: { placement: { groupId: "pg-1" } }, want: { Placement: { GroupId: "pg-1" } } },
  {
    name: "a partition on machines of one's own",
    of: { placement: { groupId: "pg-1", partition: 2 }, tenancy: "dedicated" },
    want: { Placement: { GroupId: "pg-1", PartitionNumber: 2, Tenancy: "dedicated" } },
  },
])("a launch template contains $name", ({ of, want }) => {
  expect(launchTemplateData({ ...TEMPLATE, ...of }, "us-west-2")).toMatchObject(want);
  expect(launchTemplateData(TEMPLATE, "us-west-2")).not.toMatchObject(want);
});
