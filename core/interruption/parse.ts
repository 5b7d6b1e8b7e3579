import { getAt, isJsonObject, type Json, type JsonObject, listAt, mapAt, parseJson, textAt } from "../lib/json.ts";
import { ownValue } from "../lib/own-value.ts";

/** The metric label and the reason of an interruption. */
export type InterruptionKind =
  | "spot_interrupted"
  | "rebalance_recommendation"
  | "scheduled_change"
  | "instance_stopped"
  | "instance_terminated"
  | "capacity_reservation_interrupted"
  /** Polled, never a message: a check of EC2 fails, or EC2 has scheduled an event. */
  | "instance_status"
  | "system_status"
  | "event_status"
  | "no_op";

/** What a message says about instances. */
export interface Interruption {
  readonly kind: InterruptionKind;
  /** EC2 instance ids; instances of other owners may be among them. */
  readonly instanceIds: readonly string[];
  /** When it happened, ms since the epoch; undefined when the event has no readable time. */
  readonly time?: number;
  /** Twelve digits: the account that the instances are in; undefined when the event names none. */
  readonly account?: string;
  /** The region that the instances are in, as "us-west-2"; undefined when the event names none. */
  readonly region?: string;
}

/**
 * A message, or the sentence why it cannot be read. The caller logs and drops such a message, because a retry cannot
 * succeed.
 */
type Reading = { readonly interruption: Interruption } | { readonly problem: string };

/**
 * Reads an interruption message. Lenient, because AWS changes its events: only the fields that matter are read, so that
 * an unexpected shape elsewhere loses no notice. Text that is not a JSON object cannot be read, nor a notice about
 * instances that names none; any other unknown message is a no_op. Never throws.
 */
export function parseInterruption(body: string): Reading {
  if (body.trim() === "") return { interruption: NO_OP };
  const event = parseJson(body);
  if (event === undefined) return unreadable("is not JSON");
  if (!isJsonObject(event)) return unreadable("is not a JSON object");
  const topic = `${textAt(event, ["source"])}/${textAt(event, ["detail-type"])}`;
  const read = textAt(event, ["version"]) === "0" ? ownValue(READERS, topic) : undefined;
  const { kind, instanceIds: named } = read?.(mapAt(event, ["detail"])) ?? NO_OP;
  const instanceIds = named.flatMap((id) => (typeof id === "string" && INSTANCE_ID.test(id) ? [id] : []));
  if (kind !== "no_op" && instanceIds.length === 0) return unreadable(`(${topic}) names no instance`);
  const time = Date.parse(textAt(event, ["time"]) ?? "");
  // AWS Health also delivers events of another region, or of an account of the organization.
  const account = textAt(event, ["detail", "affectedAccount"]) ?? textAt(event, ["account"]);
  const region = textAt(event, ["detail", "eventRegion"]) ?? textAt(event, ["region"]);
  return {
    interruption: {
      ...{ kind, instanceIds },
      ...(!Number.isNaN(time) && { time }),
      ...(account !== undefined && { account }),
      ...(region !== undefined && { region }),
    },
  };
}

/**
 * An instance's id. Other texts are no key of the table: an empty one, or one of a megabyte, is refused by DynamoDB.
 */
const INSTANCE_ID = /^i-[\w-]{1,64}$/;

const unreadable = (what: string): Reading => ({
  problem: `The interruption message ${what}; it was dropped. Send EventBridge events unchanged.`,
});

/** The kind, and what stands where instance ids should. */
interface Notice {
  readonly kind: InterruptionKind;
  readonly instanceIds: readonly (Json | undefined)[];
}

type Read = (detail: JsonObject) => Notice;

const NO_OP = { kind: "no_op", instanceIds: [] } as const;

const oneInstance =
  (kind: InterruptionKind): Read =>
  (detail) => ({ kind, instanceIds: [detail["instance-id"]] });

const READERS: Readonly<Record<string, Read>> = {
  "aws.ec2/EC2 Spot Instance Interruption Warning": oneInstance("spot_interrupted"),
  "aws.ec2/EC2 Instance Rebalance Recommendation": oneInstance("rebalance_recommendation"),
  "aws.ec2/EC2 Instance State-change Notification": stateChange,
  "aws.ec2/EC2 Capacity Reservation Instance Interruption Warning": oneInstance("capacity_reservation_interrupted"),
  // AWS documents both names for the same warning.
  "aws.ec2/EC2 Interruptible Capacity Reservation Instance Interruption Warning": oneInstance("capacity_reservation_interrupted"),
  "aws.health/AWS Health Event": scheduledChange,
};

const STATES: Readonly<Record<string, InterruptionKind>> = {
  stopping: "instance_stopped",
  stopped: "instance_stopped",
  "shutting-down": "instance_terminated",
  terminated: "instance_terminated",
};

function stateChange(detail: JsonObject): Notice {
  const kind = ownValue(STATES, textAt(detail, ["state"]) ?? "");
  return kind ? oneInstance(kind)(detail) : NO_OP;
}

function scheduledChange(detail: JsonObject): Notice {
  if (detail["service"] !== "EC2" || detail["eventTypeCategory"] !== "scheduledChange") return NO_OP;
  return { kind: "scheduled_change", instanceIds: listAt(detail, ["affectedEntities"]).map((entity) => getAt(entity, ["entityValue"])) };
}
