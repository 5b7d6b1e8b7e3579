import {
  DescribeInstanceStatusCommand,
  type EC2Client,
  type InstanceStatus as Ec2InstanceStatus,
  type Filter,
  type InstanceStatusSummary,
} from "@aws-sdk/client-ec2";
import type { InstanceStatus } from "#core/ports/fleet.ts";
import { toDomainError } from "./errors.ts";
import { allPages } from "./pages.ts";

/**
 * The scheduled events that end an instance
 * (karpenter-provider-aws: pkg/providers/instancestatus/instancestatus.go, DefaultProvider.List); other codes are
 * ignored.
 */
const EVENT_CODES = ["instance-reboot", "system-reboot", "system-maintenance", "instance-retirement", "instance-stop"];

/** Filters of one call must all match, so each alternative is a call of its own. */
const FILTERS: readonly Filter[] = [
  { Name: "instance-status.status", Values: ["impaired"] },
  { Name: "system-status.status", Values: ["impaired"] },
  { Name: "event.code", Values: EVENT_CODES },
];

/**
 * Instances of the account with failed status checks or scheduled events, each once. EBS checks are left out, because
 * they concern volumes.
 */
export async function impairedInstances(client: EC2Client): Promise<readonly InstanceStatus[]> {
  try {
    const lists = await Promise.all(FILTERS.map((filter) => statuses(client, filter)));
    return [...new Map(lists.flat().map((status) => [status.instanceId, status])).values()];
  } catch (error) {
    throw toDomainError(error);
  }
}

async function statuses(client: EC2Client, filter: Filter): Promise<readonly InstanceStatus[]> {
  const found = await allPages(
    (NextToken) => client.send(new DescribeInstanceStatusCommand({ Filters: [filter], MaxResults: 1000, NextToken })),
    (page) => page.InstanceStatuses,
    (page) => page.NextToken,
  );
  return found.flatMap(toStatus);
}

function toStatus({ InstanceId, InstanceStatus, SystemStatus, Events = [] }: Ec2InstanceStatus): readonly InstanceStatus[] {
  if (InstanceId === undefined) return [];
  const instanceFailedSince = failedSince(InstanceStatus);
  const systemFailedSince = failedSince(SystemStatus);
  // An event that is over stays listed for a week, and only its description shows it.
  const events = Events.filter(({ Description = "" }) => !/^\[(Completed|Canceled)\]/.test(Description)).flatMap(({ Code }) => Code ?? []);
  return [
    {
      instanceId: InstanceId,
      ...(instanceFailedSince !== undefined && { instanceFailedSince }),
      ...(systemFailedSince !== undefined && { systemFailedSince }),
      events: events.filter((code) => EVENT_CODES.includes(code)),
    },
  ];
}

function failedSince({ Details = [] }: InstanceStatusSummary = {}): number | undefined {
  const times = Details.flatMap(({ Status, ImpairedSince }) => (Status === "failed" && ImpairedSince ? [ImpairedSince.getTime()] : []));
  return times.length === 0 ? undefined : Math.min(...times);
}
