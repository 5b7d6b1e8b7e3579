import type { Stage } from "../e2e/stage.ts";
import { wholeLines } from "../e2e/support/growing-log.ts";
import type { Autoscaler } from "./autoscaler.ts";
import type { AwsCall, KubeRequest, Machine, Observed } from "./figures.ts";

/** Reads what the fake EC2 and the API server have recorded since the cluster was started. */
export function observed({ cluster, fake }: Stage, { isUser }: Autoscaler): Observed {
  return { machines: machinesOf(fake.state), calls: callsOf(fake.state), requests: requestsOf(wholeLines(cluster.auditLog), isUser) };
}

type Ec2 = Stage["fake"]["state"];

function machinesOf({ instances, prices }: Ec2): readonly Machine[] {
  return [...instances.values()].map(({ id, instanceType, zone, capacityType, launchTime, terminatedAt }) => {
    const spot = capacityType === "spot";
    const usdPerHour = (spot ? prices.spot.get(instanceType)?.get(zone) : prices.onDemand.get(instanceType)) ?? Number.NaN;
    const launched = { id, type: instanceType, zone, spot, usdPerHour, launchedAt: launchTime };
    return terminatedAt === undefined ? launched : { ...launched, endedAt: terminatedAt };
  });
}

const callsOf = ({ calls }: Ec2): readonly AwsCall[] =>
  calls.map(({ time, service, action, params }) => ({ time, service, action, dryRun: params["DryRun"] === true }));

interface AuditRecord {
  readonly requestReceivedTimestamp: string;
  readonly stage: string;
  readonly verb: string;
  readonly user: { readonly username: string };
  readonly impersonatedUser?: { readonly username: string };
  readonly objectRef?: { readonly resource?: string; readonly subresource?: string };
  readonly responseStatus?: { readonly code?: number };
}

/** The requests of some users; a watch counts once, when it begins. */
export function requestsOf(lines: readonly string[], isUser: (username: string) => boolean): readonly KubeRequest[] {
  return lines.flatMap((line) => {
    const { requestReceivedTimestamp, stage, verb, user, impersonatedUser, objectRef, responseStatus } = JSON.parse(line) as AuditRecord;
    if (!isUser((impersonatedUser ?? user).username) || (verb === "watch" && stage !== "ResponseStarted")) return [];
    const resource = [objectRef?.resource ?? "other", objectRef?.subresource].filter((part) => part !== undefined).join("/");
    return [{ time: Date.parse(requestReceivedTimestamp), verb, resource, code: responseStatus?.code ?? 0 }];
  });
}

/** The webhook's calls that the API server gave up: on a machine that is too busy, and then a sweep must find out. */
export function unansweredCalls(apiServerLog: readonly string[]): readonly string[] {
  const calls = apiServerLog.filter((line) => line.startsWith("W") && line.includes("Failed calling webhook, failing open")).length;
  return calls === 0 ? [] : [`${calls} calls of the webhook had no answer within its second, because the machine is too busy`];
}
