import type { Instance } from "#core/model/instance.ts";
import { timestamp } from "#manifests/api-object.ts";

/** An EventBridge event, as it arrives in a queue's message body. */
export interface CloudEvent {
  readonly version: "0";
  readonly id: string;
  readonly "detail-type": string;
  readonly source: string;
  readonly account: string;
  /** RFC 3339. */
  readonly time: string;
  readonly region: string;
  readonly resources: readonly string[];
  readonly detail: Readonly<Record<string, unknown>>;
}

/** A spot interruption, a rebalance recommendation, a planned retirement, or a change of state. */
export type CloudEventKind = "interruption" | "rebalance" | "retirement" | "state";

const ACCOUNT = "111122223333";

/**
 * An event about an instance, in the form that EventBridge delivers and the product reads (karpenter-provider-aws:
 * pkg/controllers/interruption/parser.go, EventParser.Parse).
 */
export function eventOf(
  kind: CloudEventKind,
  instance: Instance,
  { region, id, now }: { readonly region: string; readonly id: string; readonly now: number },
): CloudEvent {
  const base = { version: "0", id, account: ACCOUNT, time: timestamp(now), region } as const;
  const detail = { "instance-id": instance.id };
  const zonal = [`arn:aws:ec2:${instance.zone}:instance/${instance.id}`];
  switch (kind) {
    case "interruption":
      return {
        ...base,
        "detail-type": "EC2 Spot Instance Interruption Warning",
        source: "aws.ec2",
        resources: zonal,
        detail: { ...detail, "instance-action": "terminate" },
      };
    case "rebalance":
      return { ...base, "detail-type": "EC2 Instance Rebalance Recommendation", source: "aws.ec2", resources: zonal, detail };
    case "state":
      return {
        ...base,
        "detail-type": "EC2 Instance State-change Notification",
        source: "aws.ec2",
        resources: [`arn:aws:ec2:${region}:${ACCOUNT}:instance/${instance.id}`],
        detail: { ...detail, state: instance.state },
      };
    case "retirement":
      return {
        ...base,
        "detail-type": "AWS Health Event",
        source: "aws.health",
        resources: [instance.id],
        detail: {
          service: "EC2",
          eventTypeCode: "AWS_EC2_INSTANCE_RETIREMENT_SCHEDULED",
          eventTypeCategory: "scheduledChange",
          statusCode: "upcoming",
          startTime: new Date(now + 14 * 86_400_000).toUTCString(),
          affectedEntities: [{ entityValue: instance.id }],
        },
      };
  }
}
