import type { Random } from "./random.ts";

/** How long the cloud and the kubelets of a world take, ms; what varies is drawn from `random`. */
export interface WorldTimes {
  /** From the launch of a machine until its kubelet registers the node. */
  joinMs(random: Random): number;
  /** From TerminateInstances until the instance is terminated. */
  endMs(random: Random): number;
  /** How long a pod runs on after its deletion, at most its grace period. */
  stopMs(graceMs: number, random: Random): number;
  /** How long EC2's describe and list do not show a launch, or a change of an instance's state or tags. */
  unseenMs(random: Random): number;
}

/** Machines end after seconds, pods end soon after SIGTERM, and EC2 shows each change at once. */
export const FAST_TIMES: WorldTimes = {
  joinMs: (random) => random.between(20_000, 35_000),
  endMs: () => 5_000,
  stopMs: (_, random) => random.between(1_000, 2_000),
  unseenMs: () => 0,
};

/** The mean of what a boot takes longer than its least, and the most; no measurement of an account. */
const MEAN_BOOT_MS = 12_000;
const MAX_BOOT_MS = 180_000;
/** One change in so many is seen late: "eventually consistent" means up to a minute (EC2 API Reference). */
const SEEN_LATE = 10;

/** What an account of AWS and ordinary pods take. */
const AWS_TIMES: WorldTimes = {
  joinMs: (random) => Math.round(Math.min(MAX_BOOT_MS, 20_000 - MEAN_BOOT_MS * Math.log(1 - random.next()))),
  endMs: (random) => random.between(30_000, 90_000),
  stopMs: (graceMs) => graceMs,
  unseenMs: (random) => (random.between(1, SEEN_LATE) === 1 ? random.between(1_000, 60_000) : random.between(0, 1_000)),
};

/** The times of a lab, by the name that --world takes. */
export const WORLD_TIMES = { fast: FAST_TIMES, aws: AWS_TIMES } as const satisfies Readonly<Record<string, WorldTimes>>;
export type WorldName = keyof typeof WORLD_TIMES;
