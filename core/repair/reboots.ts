import type { NodeClaimRecord } from "../model/node-claim-record.ts";

const WINDOW_MS = 24 * 60 * 60_000;
/** (karpenter: pkg/controllers/disruption/repair_history.go, rebootsBeforeReplacement) */
const MAX_REBOOTS = 2;

/** When the reboots of the day before a time (ms) were requested, with one of that time. */
export const rebootsUntil = ({ reboots = [] }: Pick<NodeClaimRecord, "reboots">, at: number): readonly number[] => [
  ...reboots.filter((one) => one > at - WINDOW_MS && one !== at),
  at,
];

/** Whether the node was rebooted so often within a day that another reboot would not help. */
export const isRebootedEnough = (record: Pick<NodeClaimRecord, "reboots"> | undefined, now: number): boolean =>
  (record?.reboots ?? []).filter((one) => one > now - WINDOW_MS).length >= MAX_REBOOTS;
