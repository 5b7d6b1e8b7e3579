/** The metric label and the reason under which an interruption is counted (interruption.md §3). */
export type InterruptionKind =
  | "spot_interrupted"
  | "rebalance_recommendation"
  | "scheduled_change"
  | "instance_stopped"
  | "instance_terminated"
  | "capacity_reservation_interrupted"
  /** Polled, never a message: EC2's checks fail, or it has planned something for the instance. */
  | "instance_status"
  | "system_status"
  | "event_status"
  | "no_op";

/** What a message says about instances. */
export interface Interruption {
  readonly kind: InterruptionKind;
  /** EC2 instance ids, perhaps of instances that are not ours. */
  readonly instanceIds: readonly string[];
  /** When it happened, ms since the epoch; undefined when the event does not say so readably. */
  readonly time?: number;
}

/** A message that is no EventBridge event: to be logged and dropped, since it will not read better the next time. */
export class UnreadableInterruptionError extends Error {
  override readonly name = "UnreadableInterruptionError";
}

type Detail = Readonly<Record<string, unknown>>;

/**
 * Reads an interruption message. Lenient where AWS is: only the parts that matter are looked at, so a field of an odd shape elsewhere loses no
 * notice. Throws UnreadableInterruptionError for text that is not a JSON object; anything else unknown is a no_op.
 */
export function parseInterruption(body: string): Interruption {
  if (body.trim() === "") return { kind: "no_op", instanceIds: [] };
  const event = parseObject(body);
  const detail = isObject(event["detail"]) ? event["detail"] : {};
  const time = Date.parse(String(event["time"]));
  const read = event["version"] === "0" ? READERS[`${event["source"]}/${event["detail-type"]}`] : undefined;
  const { kind, instanceIds } = read?.(detail) ?? NO_OP;
  return { kind, instanceIds: kind === "no_op" ? [] : instanceIds, ...(Number.isNaN(time) ? {} : { time }) };
}

type Read = (detail: Detail) => Pick<Interruption, "kind" | "instanceIds">;

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

function stateChange(detail: Detail): Pick<Interruption, "kind" | "instanceIds"> {
  const kind = STATES[String(detail["state"])];
  return kind ? oneInstance(kind)(detail) : NO_OP;
}

function scheduledChange(detail: Detail): Pick<Interruption, "kind" | "instanceIds"> {
  if (detail["service"] !== "EC2" || detail["eventTypeCategory"] !== "scheduledChange") return NO_OP;
  const entities = Array.isArray(detail["affectedEntities"]) ? detail["affectedEntities"] : [];
  return { kind: "scheduled_change", instanceIds: entities.filter(isObject).map((entity) => String(entity["entityValue"] ?? "")) };
}

function parseObject(body: string): Readonly<Record<string, unknown>> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    throw new UnreadableInterruptionError("The interruption message is not JSON; it was dropped. Send EventBridge events unchanged.");
  }
  if (!isObject(parsed))
    throw new UnreadableInterruptionError(
      "The interruption message is not a JSON object; it was dropped. Send EventBridge events unchanged.",
    );
  return parsed;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
