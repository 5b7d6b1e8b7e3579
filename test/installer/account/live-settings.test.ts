import { EC2Client } from "@aws-sdk/client-ec2";
import { afterEach, describe, expect, it, vi } from "vitest";
import { liveSettings } from "#installer/account/live-settings.ts";

const credentials = async () => ({ accessKeyId: "AKIDEXAMPLE", secretAccessKey: "secret" });

/** Services that answer with one JSON after another; the URLs and operations that they were asked for. */
function answering(status: number, ...answers: readonly object[]) {
  const asked: string[] = [];
  const fetch = async (url: unknown, init?: RequestInit) => {
    const target = new Headers(init?.headers).get("x-amz-target");
    return new Response(JSON.stringify(answers[asked.push(`${new URL(String(url)).pathname} ${target ?? ""}`.trim()) - 1] ?? {}), {
      status,
    });
  };
  const live = liveSettings("us-west-2", () => ({ region: "us-west-2", credentials, fetch: fetch as typeof globalThis.fetch }));
  return { live, asked };
}

afterEach(() => void vi.restoreAllMocks());

describe("what is set in AWS now", () => {
  it("of a function: RecursiveLoop and the concurrency that is reserved", async () => {
    const { live, asked } = answering(200, { RecursiveLoop: "Terminate" }, { ReservedConcurrentExecutions: 0 }, {});
    expect([await live.recursiveLoop("f"), await live.reservedConcurrency("f"), await live.reservedConcurrency("f")]).toEqual([
      "Terminate",
      0,
      undefined,
    ]);
    expect(asked.slice(0, 2)).toEqual(["/2024-08-31/functions/f/recursion-config", "/2019-09-30/functions/f/concurrency"]);
  });

  it("a refusal says which function, and the service's words", async () => {
    await expect(answering(403, { Message: "not authorized" }).live.recursiveLoop("f")).rejects.toThrow(
      "reading RecursiveLoop of f: 403 not authorized",
    );
  });

  it.for([
    { State: "Enabled", on: true },
    { State: "Updating", on: true },
    { State: "Disabling", on: false },
    { State: "Disabled", on: false },
  ])("an event source that is $State starts its function: $on", async ({ State, on }) => {
    expect(await answering(200, { State }).live.isSourceEnabled("id")).toBe(on);
  });

  it.for([
    { State: "ENABLED", on: true },
    { State: "DISABLED", on: false },
  ])("a rule that is $State sends events: $on", async ({ State, on }) => {
    const { live, asked } = answering(200, { State });
    expect(await live.isRuleEnabled("r")).toBe(on);
    expect(asked).toEqual(["/ AWSEvents.DescribeRule"]);
  });

  it("the class of a log group is that of the group with exactly this name, on any page", async () => {
    const other = { logGroupName: "/aws/eks/c1/cluster-2", logGroupClass: "STANDARD" };
    const own = { logGroupName: "/aws/eks/c1/cluster", logGroupClass: "INFREQUENT_ACCESS" };
    const { live } = answering(200, { logGroups: [other], nextToken: "n" }, { logGroups: [own] });
    expect(await live.logGroupClass("/aws/eks/c1/cluster")).toBe("INFREQUENT_ACCESS");
    expect(await answering(200, { logGroups: [other] }).live.logGroupClass("/aws/eks/c1/cluster")).toBeUndefined();
  });

  it("a subnet has a way out by its own route table or the VPC's main one, over anything but an internet gateway", async () => {
    const everywhere = "0.0.0.0/0";
    const table = (association: object, route: object) => ({ VpcId: "vpc-1", Associations: [association], Routes: [route] });
    const answers: Readonly<Record<string, object>> = {
      DescribeSubnetsCommand: { Subnets: ["main", "nat", "igw", "gone"].map((SubnetId) => ({ SubnetId, VpcId: "vpc-1" })) },
      DescribeRouteTablesCommand: {
        RouteTables: [
          table({ Main: true }, { DestinationCidrBlock: everywhere, TransitGatewayId: "tgw-1" }),
          table({ SubnetId: "nat" }, { DestinationCidrBlock: everywhere, NatGatewayId: "nat-1" }),
          table({ SubnetId: "igw" }, { DestinationCidrBlock: everywhere, GatewayId: "igw-1" }),
          table({ SubnetId: "gone" }, { DestinationCidrBlock: everywhere, NatGatewayId: "nat-2", State: "blackhole" }),
        ],
      },
      DescribeVpcEndpointsCommand: {
        VpcEndpoints: [
          { ServiceName: "com.amazonaws.us-west-2.sqs", State: "available" },
          { ServiceName: "com.amazonaws.us-west-2.ec2", State: "pending" },
        ],
      },
    };
    vi.spyOn(EC2Client.prototype, "send").mockImplementation((async (command: object) => answers[command.constructor.name]) as never);
    expect(await answering(200).live.network(["main", "nat", "igw", "gone"])).toEqual({
      withoutWayOut: ["igw", "gone"],
      endpoints: ["com.amazonaws.us-west-2.sqs"],
    });
  });
});
