import type { Random } from "#lab/world/random.ts";

/** How many replicas a service needs over a day. */
export interface Curve {
  readonly night: number;
  /** Replicas at the peak of a working day. */
  readonly day: number;
  /** UTC. */
  readonly peakHour: number;
  /** The peak of a weekend day as a share of a working day's. */
  readonly weekend: number;
}

const HOUR_MS = 3_600_000;

/** Replicas at a time (ms since the epoch): a bell curve over the day, at half of its peak four hours from the peak. */
export function replicasAt({ night, day, peakHour, weekend }: Curve, at: number): number {
  const date = new Date(at);
  const hour = date.getUTCHours() + date.getUTCMinutes() / 60;
  const apart = Math.min(Math.abs(hour - peakHour), 24 - Math.abs(hour - peakHour));
  const bell = 2 ** -((apart / 4) ** 2);
  const isWeekend = date.getUTCDay() === 0 || date.getUTCDay() === 6;
  return Math.round(night + (day - night) * bell * (isWeekend ? weekend : 1));
}

/** The curve with `times` as many replicas. */
export function sized(curve: Curve, times: number): Curve {
  return { ...curve, night: Math.round(curve.night * times), day: Math.round(curve.day * times) };
}

/** One change of a Deployment's replicas, seconds after the start. */
export interface Scaling {
  readonly at: number;
  readonly replicas: number;
}

/** The autoscaler's interval and tolerance; the tolerance is HorizontalPodAutoscaler's, the interval is longer. */
const AUTOSCALER_INTERVAL_MS = HOUR_MS / 6;
const AUTOSCALER_TOLERANCE = 0.1;
/** Maximum deviation of the load from the curve, as a share of the curve, up or down. */
const MAX_NOISE_SHARE = 0.08;

/** The changes of replicas that an autoscaler makes on a curve from `start` (ms), for `forMs`. */
export function scalings(curve: Curve, start: number, forMs: number, random: Random): readonly Scaling[] {
  const found: Scaling[] = [];
  let current = replicasAt(curve, start);
  const jitter = random.between(0, AUTOSCALER_INTERVAL_MS / 1_000 - 1);
  for (let at = AUTOSCALER_INTERVAL_MS; at < forMs; at += AUTOSCALER_INTERVAL_MS) {
    const noise = curve.day === curve.night ? 1 : 1 + MAX_NOISE_SHARE * (2 * random.next() - 1);
    const wanted = Math.round(replicasAt(curve, start + at) * noise);
    if (Math.abs(wanted - current) <= AUTOSCALER_TOLERANCE * current) continue;
    found.push({ at: at / 1_000 + jitter, replicas: wanted });
    current = wanted;
  }
  return found;
}
