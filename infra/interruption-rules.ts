import type { EventPattern } from "aws-cdk-lib/aws-events";

/**
 * Which of the account's events go to the interruption queue. They carry no tags, so all instances of the region arrive; what has no
 * claim is dropped by the function.
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
    // AWS documents both.
    detailType: [
      "EC2 Capacity Reservation Instance Interruption Warning",
      "EC2 Interruptible Capacity Reservation Instance Interruption Warning",
    ],
  },
};
