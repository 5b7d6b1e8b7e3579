import { sharesOf } from "#core/insight/overview/shares.ts";
import { ownValue } from "#core/lib/own-value.ts";
import type { Resources } from "#core/model/quantity.ts";
import { amountText } from "#core/scheduling/reasons/words.ts";

const BAR_WIDTH = 20;
/** Resources that get a bar; more would hide what matters. */
const MAX_BARS = 4;

/** "██████░░░░" for 0.6 and a width of 10; what is less than nothing or more than all is drawn as that. */
export function bar(share: number, width = BAR_WIDTH): string {
  const full = Math.round(Math.min(1, Math.max(0, share)) * width);
  return "█".repeat(full) + "░".repeat(width - full);
}

/**
 * One line for each resource, the tightest first:
 *
 *     cpu     █████████████████░░░  84%  1.6 of 1.9
 *     memory  ░░░░░░░░░░░░░░░░░░░░   1%  64Mi of 7.5Gi
 */
export function roomBars(used: Resources, room: Resources): readonly string[] {
  const shares = sharesOf(used, room).slice(0, MAX_BARS);
  const widest = Math.max(0, ...shares.map(({ name }) => name.length));
  return shares.map(({ name, share }) => {
    const amounts = `${amountText(ownValue(used, name) ?? 0, name, "up")} of ${amountText(ownValue(room, name) ?? 0, name)}`;
    return `${name.padEnd(widest)}  ${bar(share)} ${`${Math.round(share * 100)}%`.padStart(4)}  ${amounts}`;
  });
}
