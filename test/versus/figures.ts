/** An instance of EC2, priced. Times are ms since the epoch. */
export interface Machine {
  readonly id: string;
  readonly type: string;
  readonly zone: string;
  readonly spot: boolean;
  readonly usdPerHour: number;
  readonly launchedAt: number;
  readonly endedAt?: number;
}

/** A request to AWS. */
export interface AwsCall {
  readonly time: number;
  readonly service: string;
  readonly action: string;
  readonly dryRun: boolean;
}

/** A request of the autoscaler to the API server, from the audit log. */
export interface KubeRequest {
  readonly time: number;
  readonly verb: string;
  /** `pods`, `pods/eviction`. */
  readonly resource: string;
  readonly code: number;
}

/** All that was seen in the cluster of a course. */
export interface Observed {
  readonly machines: readonly Machine[];
  readonly calls: readonly AwsCall[];
  readonly requests: readonly KubeRequest[];
}

/** When an act was played, and what was looked at while it was. Times are ms since the epoch. */
export interface PlayedAct {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  /** Up to here its machines are paid. */
  readonly paidUntil: number;
  /** Absent when pods wait at the end. */
  readonly runningAt?: number;
  readonly waitedPodSeconds: number;
  /** Ids of the instances that were pending or running at the end. */
  readonly atRest: readonly string[];
}

/** The figures of an act. Seconds count from its beginning. */
export interface ActFigures {
  readonly act: string;
  readonly firstFleet?: number;
  readonly lastFleet?: number;
  /** Until all pods run, for the last time. */
  readonly running?: number;
  /** Sum over the pods of the seconds for which they did not run. */
  readonly waited: number;
  readonly fleets: number;
  readonly launched: number;
  readonly atRest: number;
  /** USD per hour of the machines at rest. */
  readonly usdPerHour: number;
  readonly cents: number;
  readonly evicted: number;
  /** `3×m5.large@a 1×c5.large/spot@b` */
  readonly launchedTypes: string;
  readonly atRestTypes: string;
}

/** Tallies by name, the largest first. */
export type Tally = Readonly<Record<string, number>>;

export function figuresOf(act: PlayedAct, { machines, calls, requests }: Observed): ActFigures {
  const { from, to, paidUntil, runningAt } = act;
  const within = ({ time }: { readonly time: number }): boolean => time >= from && time < to;
  const since = (time: number): number => (time - from) / 1_000;
  const fleets = calls.filter((call) => within(call) && isFleet(call));
  const [first, last] = [fleets[0], fleets.at(-1)];
  const launched = machines.filter(({ launchedAt }) => launchedAt >= from && launchedAt < to);
  const atRest = machines.filter(({ id }) => act.atRest.includes(id));
  return {
    act: act.name,
    ...(first && { firstFleet: since(first.time) }),
    ...(last && { lastFleet: since(last.time) }),
    ...(runningAt !== undefined && { running: since(runningAt) }),
    waited: act.waitedPodSeconds,
    fleets: fleets.length,
    launched: launched.length,
    atRest: atRest.length,
    usdPerHour: sum(atRest.map(({ usdPerHour }) => usdPerHour)),
    cents: sum(machines.map((machine) => centsOf(machine, from, paidUntil))),
    evicted: requests.filter((request) => within(request) && isEviction(request)).length,
    launchedTypes: grouped(launched),
    atRestTypes: grouped(atRest),
  };
}

const isFleet = ({ service, action, dryRun }: AwsCall): boolean => service === "ec2" && action === "CreateFleet" && !dryRun;
const isEviction = ({ verb, resource, code }: KubeRequest): boolean => verb === "create" && resource === "pods/eviction" && code === 201;

function centsOf({ launchedAt, endedAt = Number.POSITIVE_INFINITY, usdPerHour }: Machine, from: number, to: number): number {
  const paidMs = Math.max(0, Math.min(endedAt, to) - Math.max(launchedAt, from));
  return (paidMs / 3_600_000) * usdPerHour * 100;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, n) => total + n, 0);

function grouped(machines: readonly Machine[]): string {
  const names = machines.map(({ type, zone, spot }) => `${type}${spot ? "/spot" : ""}@${zone.slice(-1)}`);
  return Object.entries(tally(names.sort()))
    .map(([name, count]) => `${count}×${name}`)
    .join(" ");
}

export function tally(names: readonly string[]): Tally {
  const groups = [...Map.groupBy(names, (name) => name)].map(([name, { length }]) => [name, length] as const);
  return Object.fromEntries(groups.sort(([, a], [, b]) => b - a));
}

/** Requests from the beginning of the first act to the end of the last. */
export function requestTallies(acts: readonly PlayedAct[], { calls, requests }: Observed): { readonly ec2: Tally; readonly kube: Tally } {
  const [from = 0, to = 0] = [acts[0]?.from, acts.at(-1)?.to];
  const within = ({ time }: { readonly time: number }): boolean => time >= from && time < to;
  return {
    ec2: tally(
      calls.filter((call) => within(call) && call.service === "ec2").map(({ action, dryRun }) => (dryRun ? `${action} (dry run)` : action)),
    ),
    kube: tally(requests.filter(within).map(({ verb, resource }) => `${verb} ${resource}`)),
  };
}

export const AUTOSCALERS = ["karpenter", "product"] as const;
export type AutoscalerName = (typeof AUTOSCALERS)[number];

/** CPU seconds of a course, and memory. */
export interface Usage {
  readonly cpuSeconds: number;
  /** MB, of the one process or of the largest function. */
  readonly peakMb: number;
  readonly invocations?: number;
  /** What Lambda would bill. */
  readonly gbSeconds?: number;
}

/** A course played once: a line of the results. */
export interface Run {
  readonly course: string;
  readonly autoscaler: AutoscalerName;
  /** From 1 with `--repeat`. */
  readonly run: number;
  readonly acts: readonly ActFigures[];
  readonly usage: Usage;
  readonly ec2: Tally;
  readonly kube: Tally;
  /** What did not go as it should, for example machines that did not boot. */
  readonly problems: readonly string[];
  /** Processes that wanted a core in the minute before the end. */
  readonly load: number;
}
