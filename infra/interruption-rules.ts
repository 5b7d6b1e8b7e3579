import type { EventPattern } from "aws-cdk-lib/aws-events";

/**
 * The events of the account that are sent to the interruption queue. They carry no tags, so events of all instances of
 * the region arrive; the function drops those without a NodeClaim.
 */
export const INTERRUPTION_RULES: Readonly<Record<string, EventPattern>> = {
  ScheduledChange: {
    source: ["aws.health"],
    detailType: ["AWS Health Event"],
    detail: { service: ["EC2"], eventTypeCategory: ["scheduledChange"] },
  },
  SpotInterruption: { source: ["aws.ec2"], detailType: ["EC2 Spot Instance Interruption Warning"] },
  Rebalance: { source: ["aws.ec2"], detailType: ["EC2 Instance Rebalance Recommendation"] },
  InstanceStateChange: {
    source: ["aws.ec2"],
    detailType: ["EC2 Instance State-change Notification"],
    detail: { state: ["stopping", "stopped", "shutting-down", "terminated"] },
  },
  CapacityReservationInterruption: {
    source: ["aws.ec2"],
    // AWS documents both spellings.
    detailType: [
      "EC2 Capacity Reservation Instance Interruption Warning",
      "EC2 Interruptible Capacity Reservation Instance Interruption Warning",
    ],
  },
};
