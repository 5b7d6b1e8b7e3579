import { isJsonObject, type JsonObject, listAt, parseJson } from "../lib/json.ts";
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
}

/** A message that is not an EventBridge event. The caller logs and drops it, because a retry cannot succeed. */
export class UnreadableInterruptionError extends Error {
  override readonly name = "UnreadableInterruptionError";
}

/**
 * Reads an interruption message. Lenient, because AWS changes its events: only the fields that matter are read, so that
 * an unexpected shape elsewhere loses no notice. Throws UnreadableInterruptionError for text that is not a JSON object;
 * any other unknown message is a no_op.
 */
export function parseInterruption(body: string): Interruption {
  if (body.trim() === "") return { kind: "no_op", instanceIds: [] };
  const event = parseObject(body);
  const detail = isJsonObject(event["detail"]) ? event["detail"] : {};
  const time = Date.parse(String(event["time"]));
  const read = event["version"] === "0" ? ownValue(READERS, `${event["source"]}/${event["detail-type"]}`) : undefined;
  const { kind, instanceIds } = read?.(detail) ?? NO_OP;
  return { kind, instanceIds: kind === "no_op" ? [] : instanceIds, ...(Number.isNaN(time) ? {} : { time }) };
}

type Read = (detail: JsonObject) => Pick<Interruption, "kind" | "instanceIds">;

const NO_OP = { kind: "no_op", instanceIds: [] } as const;

const oneInstance =
  (kind: InterruptionKind): Read =>
  (detail) => ({ kind, instanceIds: [String(detail["instance-id"] ?? "")] });

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

function stateChange(detail: JsonObject): Pick<Interruption, "kind" | "instanceIds"> {
  const kind = ownValue(STATES, String(detail["state"]));
  return kind ? oneInstance(kind)(detail) : NO_OP;
}

function scheduledChange(detail: JsonObject): Pick<Interruption, "kind" | "instanceIds"> {
  if (detail["service"] !== "EC2" || detail["eventTypeCategory"] !== "scheduledChange") return NO_OP;
  const entities = listAt(detail, ["affectedEntities"]).filter(isJsonObject);
  return { kind: "scheduled_change", instanceIds: entities.map((entity) => String(entity["entityValue"] ?? "")) };
}

function parseObject(body: string): JsonObject {
  const parsed = parseJson(body);
  if (parsed === undefined)
    throw new UnreadableInterruptionError("The interruption message is not JSON; it was dropped. Send EventBridge events unchanged.");
  if (!isJsonObject(parsed))
    throw new UnreadableInterruptionError(
      "The interruption message is not a JSON object; it was dropped. Send EventBridge events unchanged.",
    );
  return parsed;
}
