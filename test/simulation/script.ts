import type { Pause, PauseScope } from "#core/model/pause.ts";
import type { Catalogue } from "#core/offerings/catalogue.ts";
import type { LabOptions } from "#lab/host.ts";
import type { Outage } from "#lab/world/outages.ts";
import type { SimulatedReservation } from "#lab/world/reservations.ts";
import type { WorldName } from "#lab/world/times.ts";
import type { ApiObject } from "#manifests/api-object.ts";

/**
 * One run of the simulation: the world, the acts and the faults. It is plain data drawn from a seed, so that shrink.ts
 * can shorten it and the same run can be played again.
 */
export interface Script {
  /** The seed that the script was drawn from. */
  readonly seed: number;
  /** Seed of the world's random choices: names, delays, the order of interleaved calls. */
  readonly chance: number;
  /** Virtual minutes until the faults end and the world may come to rest. */
  readonly minutes: number;
  readonly sources: readonly ("audit" | "notify")[];
  /** Whether another invocation may run at each remote call. */
  readonly interleaved: boolean;
  /** The times of EC2 and pods. */
  readonly world: WorldName;
  /** How long EC2 does not list a new instance, ms. */
  readonly cloudLagMs: number;
  readonly objects: readonly ApiObject[];
  readonly features?: Features;
  /** Whether people pause the cluster meanwhile: laws about what must happen in time do not count then. */
  readonly pauses?: true;
  /** In order of time. */
  readonly events: readonly ScriptEvent[];
}

/** What only some stacks have. */
export interface Features {
  /** The feature gates that are on. */
  readonly gates?: LabOptions["settings"];
  /** Capacity reservations of the account. */
  readonly reservations?: readonly SimulatedReservation[];
  /** Whether SQS hands a function several messages at once. */
  readonly batches?: boolean;
  /** Whether the stack has another cluster, whose API server does not answer. */
  readonly neighbour?: boolean;
  /** Whether the stack has another cluster that works, in the same account. */
  readonly second?: boolean;
  /** Whether EC2 keeps its documented buckets of requests. */
  readonly buckets?: boolean;
}

/** `at`: seconds after the start. */
export type ScriptEvent = { readonly at: number } & (Act | Fault);

/**
 * In [0, 1): selects one of the objects that exist at the time of the act, so that it stays valid in a shortened
 * script.
 */
export type Pick = number;

/** What users, workloads and EC2 do. */
export type Act =
  | { readonly what: "scale"; readonly workload: string; readonly replicas: number }
  | { readonly what: "run job"; readonly name: string; readonly pods: number; readonly cpu: string }
  | { readonly what: "delete job"; readonly name: string }
  | { readonly what: "restart"; readonly workload: string }
  | { readonly what: "delete pod"; readonly pick: Pick }
  | { readonly what: "hold pod"; readonly pick: Pick; readonly value: string | undefined }
  | { readonly what: "delete node"; readonly pick: Pick }
  | { readonly what: "delete claim"; readonly pick: Pick }
  | { readonly what: "edit pool"; readonly pool: string; readonly spec: Readonly<Record<string, unknown>> }
  | { readonly what: "delete pool"; readonly pool: string }
  | { readonly what: "apply"; readonly object: ApiObject }
  | { readonly what: "delete"; readonly kind: string; readonly name: string; readonly namespace?: string }
  /** A node appears that says it runs on the machine of another; after so many minutes it is deleted. */
  | { readonly what: "twin node"; readonly pick: Pick; readonly minutes: number }
  /** An agent reports broken hardware of a node; after so many minutes it takes that back, without a number never. */
  | { readonly what: "break hardware"; readonly pick: Pick; readonly minutes: number | undefined }
  /** Other users of the account take machines of the reservation, so that so many are left for the cluster. */
  | { readonly what: "others reserve"; readonly left: number }
  /** Scales the Deployment of the second cluster. */
  | { readonly what: "scale second"; readonly replicas: number }
  /** Events about the neighbour cluster: a notice for its machine, and a wake-up for its planner. */
  | { readonly what: "ring neighbour" }
  | { readonly what: "interrupt"; readonly pick: Pick }
  | { readonly what: "recommend rebalance"; readonly pick: Pick }
  | { readonly what: "retire machine"; readonly pick: Pick }
  | { readonly what: "stop machine"; readonly pick: Pick }
  | { readonly what: "spot prices"; readonly spot: NonNullable<Catalogue["spot"]> }
  | { readonly what: "read prices" }
  /** A person pauses the cluster by the table or the ConfigMap; after so many minutes it ends, or a person ends it. */
  | { readonly what: "pause"; readonly by: Pause["source"]; readonly only?: PauseScope; readonly minutes: number; readonly hasEnd: boolean }
  | { readonly what: "outage"; readonly of: WithoutTime<Outage>; readonly minutes: number };

type WithoutTime<T> = Omit<T, "from" | "until">;

export type Failure = "conflict" | "throttled" | "server" | "expired" | "refused";

/** A fault between the product and the world. */
export type Fault =
  | Strike
  | { readonly what: "storm"; readonly port: Port; readonly rate: number; readonly minutes: number; readonly failure: Failure }
  | {
      readonly what: "messages";
      readonly queue: QueueName;
      readonly how: "lose" | "duplicate" | "delay";
      readonly rate: number;
      readonly minutes: number;
      readonly delayMs: number;
    }
  | { readonly what: "skew"; readonly fn: FunctionName; readonly ms: number; readonly minutes: number }
  /** The service refuses all calls of one kind: an admission policy, rights that were taken away. */
  | { readonly what: "policy"; readonly port: Port; readonly method: string; readonly kind?: string; readonly minutes: number }
  /** What EC2's lists and descriptions say of an instance is so old. */
  | { readonly what: "stale lists"; readonly ms: number; readonly minutes: number }
  /** The table loses this share of its NodeClaims and commands; at 1 it is new, without leases and marks. */
  | { readonly what: "lose table"; readonly share: number }
  /** EC2's lists lack so many of the instances, while each is described when it is asked for by its id. */
  | { readonly what: "partial lists"; readonly share: number; readonly minutes: number }
  /** Machines that start meanwhile join this much later; with no time they never do. */
  | { readonly what: "slow start"; readonly ms: number | undefined; readonly minutes: number }
  /**
   * The table answers as DynamoDB may at any time: this share of writes meets a transaction of others and of batches is
   * left unprocessed, lists have small pages, and reads that need not be consistent are up to this old.
   */
  | { readonly what: "busy table"; readonly rate: number; readonly staleMs: number; readonly minutes: number }
  /** The table's index by instance does not know what was written less than this long ago. */
  | { readonly what: "late index"; readonly ms: number; readonly minutes: number }
  /** The account runs as many invocations as it may: Lambda refuses this share of further ones. */
  | { readonly what: "full account"; readonly rate: number; readonly minutes: number }
  /** Another tool of the account uses EC2's bucket of an action up, this share of the time. */
  | { readonly what: "busy bucket"; readonly action: string; readonly share: number; readonly minutes: number }
  /** After the next disruption command is decided, somebody changes what it was decided on. */
  | { readonly what: "second thought"; readonly how: "pods" | "hold" | "budget"; readonly ms: number };

/** A fault of one remote call: the first matching call after `skip` others. */
export interface Strike {
  readonly what: "strike";
  readonly how: "kill" | "fail" | "slow";
  /** Before the effect of the call, or between the effect and the answer. */
  readonly when: "before" | "after";
  readonly fn?: FunctionName;
  readonly port?: Port;
  readonly method?: string;
  readonly skip: number;
  readonly failure: Failure;
  /** Delay of a slow call. */
  readonly ms: number;
}

export type Port = "kubernetes" | "store" | "fleet" | "inventory" | "wakeUps";
export type FunctionName = "provision" | "lifecycle" | "disruption" | "interruption" | "catalog";
export type QueueName = "provision" | "claims" | "disruption" | "catalog" | "interruption";

const FAULTS: ReadonlySet<string> = new Set([
  "strike",
  "storm",
  "messages",
  "skew",
  "policy",
  "partial lists",
  "stale lists",
  "lose table",
  "slow start",
  "busy table",
  "late index",
  "full account",
  "busy bucket",
  "second thought",
]);

export function isFault(event: Act | Fault): event is Fault {
  return FAULTS.has(event.what);
}

/** What any two clocks may differ by without a fault, ms: a decision reads its clock before it acts. */
const LEAST_SKEW_MS = 3_000;

/** The most that two clocks of the run may differ, ms. */
export function skewOf({ events }: Script): number {
  const offsets = events.map((event) => (event.what === "skew" ? Math.abs(event.ms) : 0));
  return 2 * Math.max(LEAST_SKEW_MS, ...offsets) + 500;
}

/** One readable line: "+12m05s strike: kill before lifecycle's store.update (after 3 others)". */
export function describeEvent(event: ScriptEvent): string {
  const minutes = Math.floor(event.at / 60);
  const time = `+${minutes}m${String(Math.round(event.at % 60)).padStart(2, "0")}s`;
  if (event.what === "strike") {
    const { how, when, fn = "any function", port, method, skip, failure, ms } = event;
    const effect = how === "fail" ? `fail (${failure})` : how === "slow" ? `hold up for ${ms / 1_000} s` : "kill";
    const call = port === undefined ? "a call" : `${port}.${method ?? "*"}`;
    return `${time} ${effect} ${when} ${call} of ${fn}${skip > 0 ? `, the one after ${skip} others` : ""}`;
  }
  if (event.what === "spot prices") return `${time} spot prices move`;
  if (event.what === "apply") return `${time} apply ${event.object.kind} ${event.object.metadata.name}`;
  const { at: _, what, ...rest } = event;
  return `${time} ${what} ${JSON.stringify(rest)}`;
}
