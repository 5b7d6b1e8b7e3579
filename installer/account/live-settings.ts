import { DescribeRouteTablesCommand, DescribeSubnetsCommand, DescribeVpcEndpointsCommand, type RouteTable } from "@aws-sdk/client-ec2";
import { ec2Client } from "#adapters/aws/clients.ts";
import { jsonCall } from "#adapters/aws/json-call.ts";
import { allPages } from "#adapters/aws/pages.ts";
import { type SignedCaller, signedFetch } from "#adapters/aws/signed-fetch.ts";
import type { LiveSettings } from "./ports.ts";

interface LogGroupPage {
  readonly logGroups?: readonly { readonly logGroupName: string; readonly logGroupClass?: string }[];
  readonly nextToken?: string;
}

/** What is set in AWS now. `caller` makes the caller of a service by its name in AWS_ENDPOINT_URL_<NAME>. */
export function liveSettings(region: string, caller: (service: string) => Omit<SignedCaller, "service">): LiveSettings {
  const lambda = async (path: string, doing: string): Promise<Readonly<Record<string, unknown>>> => {
    const response = await signedFetch({ ...caller("LAMBDA"), service: "lambda" }, { method: "GET", path });
    const answer = (await response.json().catch(() => ({}))) as Readonly<Record<string, unknown>>;
    if (!response.ok) throw new Error(`${doing}: ${response.status} ${String(answer["Message"] ?? "")}`.trimEnd());
    return answer;
  };
  return {
    recursiveLoop: async (name) =>
      String((await lambda(`/2024-08-31/functions/${name}/recursion-config`, `reading RecursiveLoop of ${name}`))["RecursiveLoop"]),
    reservedConcurrency: async (name) => {
      const { ReservedConcurrentExecutions: reserved } = await lambda(`/2019-09-30/functions/${name}/concurrency`, `reading ${name}`);
      return typeof reserved === "number" ? reserved : undefined;
    },
    isSourceEnabled: async (id) => {
      const { State } = await lambda(`/2015-03-31/event-source-mappings/${id}`, `event source ${id}`);
      return State !== "Disabled" && State !== "Disabling";
    },
    isRuleEnabled: async (Name) => {
      const { State } = await jsonCall<{ readonly State?: string }>(
        { ...caller("EVENTBRIDGE"), service: "events" },
        { target: "AWSEvents.DescribeRule", input: { Name }, doing: `reading rule ${Name}` },
      );
      return State !== "DISABLED";
    },
    logGroupClass: async (name) => {
      const groups = await allPages(
        (nextToken) =>
          jsonCall<LogGroupPage>(
            { ...caller("CLOUDWATCH_LOGS"), service: "logs" },
            {
              target: "Logs_20140328.DescribeLogGroups",
              input: { logGroupNamePrefix: name, ...(nextToken && { nextToken }) },
              doing: `reading log group ${name}`,
            },
          ),
        (page) => page.logGroups,
        (page) => page.nextToken,
      );
      const found = groups.find(({ logGroupName }) => logGroupName === name);
      return found && (found.logGroupClass ?? "STANDARD");
    },
    network: (subnetIds) => network(region, caller("EC2"), subnetIds),
  };
}

async function network(
  region: string,
  { credentials }: Pick<SignedCaller, "credentials">,
  subnetIds: readonly string[],
): ReturnType<LiveSettings["network"]> {
  const ec2 = ec2Client(region, credentials);
  const { Subnets = [] } = await ec2.send(new DescribeSubnetsCommand({ SubnetIds: [...subnetIds] }));
  const vpcs = [...new Set(Subnets.flatMap(({ VpcId }) => VpcId ?? []))];
  const Filters = [{ Name: "vpc-id", Values: vpcs }];
  const next = (page: { readonly NextToken?: string | undefined }): string | undefined => page.NextToken;
  const tables = await allPages(
    (NextToken) => ec2.send(new DescribeRouteTablesCommand({ Filters, NextToken })),
    (page) => page.RouteTables,
    next,
  );
  const endpoints = await allPages(
    (NextToken) => ec2.send(new DescribeVpcEndpointsCommand({ Filters, NextToken })),
    (page) => page.VpcEndpoints,
    next,
  );
  return {
    withoutWayOut: Subnets.flatMap(({ SubnetId = "", VpcId = "" }) => (hasWayOut(tables, SubnetId, VpcId) ? [] : [SubnetId])),
    endpoints: endpoints.flatMap(({ ServiceName, State }) => (State?.toLowerCase() === "available" ? (ServiceName ?? []) : [])),
  };
}

/**
 * Whether a default route of the subnet leads out for an address of the VPC: over NAT, a transit gateway or another
 * network. An internet gateway does not serve functions, which have no public address.
 */
function hasWayOut(tables: readonly RouteTable[], subnet: string, vpc: string): boolean {
  const isOf = (
    table: RouteTable,
    holds: (association: { SubnetId?: string | undefined; Main?: boolean | undefined }) => boolean,
  ): boolean => table.Associations?.some(holds) === true;
  const table =
    tables.find((one) => isOf(one, ({ SubnetId }) => SubnetId === subnet)) ??
    tables.find((one) => one.VpcId === vpc && isOf(one, ({ Main }) => Main === true));
  return (table?.Routes ?? []).some(
    ({ DestinationCidrBlock, GatewayId, State }) =>
      DestinationCidrBlock === "0.0.0.0/0" && State !== "blackhole" && GatewayId?.startsWith("igw-") !== true,
  );
}
