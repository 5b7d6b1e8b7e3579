import type { Random } from "../../../lab/world/random.ts";

/** How many replicas a service needs over a day. */
export interface Curve {
  readonly night: number;
  /** At its peak on a working day. */
  readonly day: number;
  /** UTC. */
  readonly peakHour: number;
  /** What a weekend's peak is of a working day's. */
  readonly weekend: number;
}

const HOUR_MS = 3_600_000;

/** Replicas at a time (ms since the epoch): a bell over the day, half of its peak four hours from it. */
export function replicasAt({ night, day, peakHour, weekend }: Curve, at: number): number {
  const date = new Date(at);
  const hour = date.getUTCHours() + date.getUTCMinutes() / 60;
  const apart = Math.min(Math.abs(hour - peakHour), 24 - Math.abs(hour - peakHour));
  const bell = 2 ** -((apart / 4) ** 2);
  const isWeekend = date.getUTCDay() === 0 || date.getUTCDay() === 6;
  return Math.round(night + (day - night) * bell * (isWeekend ? weekend : 1));
}

/** The same day for so many times the replicas. */
export function sized(curve: Curve, times: number): Curve {
  return { ...curve, night: Math.round(curve.night * times), day: Math.round(curve.day * times) };
}

/** One change of a Deployment's replicas, seconds after the start. */
export interface Scaling {
  readonly at: number;
  readonly replicas: number;
}

/** The autoscaler looks this often, and leaves alone what is within its tolerance: both as HorizontalPodAutoscaler has them, but for the interval. */
const LOOK_MS = HOUR_MS / 6;
const TOLERANCE = 0.1;
/** What users do differs from the curve by so much, up or down. */
const NOISE = 0.08;

/** What an autoscaler makes of a curve from `start` (ms) on, for so many ms. */
export function scalings(curve: Curve, start: number, forMs: number, random: Random): readonly Scaling[] {
  const found: Scaling[] = [];
  let current = replicasAt(curve, start);
  const jitter = random.between(0, LOOK_MS / 1_000 - 1);
  for (let at = LOOK_MS; at < forMs; at += LOOK_MS) {
    const noise = curve.day === curve.night ? 1 : 1 + NOISE * (2 * random.next() - 1);
    const wanted = Math.round(replicasAt(curve, start + at) * noise);
    if (Math.abs(wanted - current) <= TOLERANCE * current) continue;
    found.push({ at: at / 1_000 + jitter, replicas: wanted });
    current = wanted;
  }
  return found;
}
