import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { CostPoint } from "#core/insight/overview/types.ts";
import { money } from "./format.ts";

const WIDTH = 900;

interface ChartProps {
  readonly points: readonly CostPoint[];
  readonly height: number;
  /** The text for a time. */
  readonly timeText: (at: number) => string;
  /** A time that is marked. */
  readonly mark?: number | undefined;
  /** Without axis and words, as a background. */
  readonly isPlain?: true;
}

/** The steps of a line: a price holds until the next point. */
function stepPath(
  points: readonly CostPoint[],
  x: (at: number) => number,
  y: (value: number) => number,
  of: (point: CostPoint) => number,
): string {
  return points.map((point, i) => (i === 0 ? `M${x(point.at)},${y(of(point))}` : `H${x(point.at)}V${y(of(point))}`)).join("");
}

/** USD per hour over time, beside what the same nodes cost on demand. */
export function Chart({ points, height, timeText, mark, isPlain }: ChartProps): JSX.Element {
  const [hovered, setHovered] = useState<CostPoint>();
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined) return <p class="empty">There is no cost to show yet.</p>;
  const most = Math.max(...points.map(({ perHour, onDemandPerHour }) => Math.max(perHour, onDemandPerHour)), 0.000001) * 1.08;
  const span = Math.max(1, last.at - first.at);
  const pad = isPlain ? 0 : 8;
  const x = (at: number): number => Math.round(((at - first.at) / span) * WIDTH * 10) / 10;
  const y = (value: number): number => Math.round((height - pad - (value / most) * (height - 2 * pad)) * 10) / 10;
  const line = `${stepPath(points, x, y, ({ perHour }) => perHour)}${points.length === 1 ? `H${WIDTH}` : ""}`;
  const area = `${line}V${y(0)}H0Z`;
  const summary = `Cost from ${money(first.perHour)} to ${money(last.perHour)} an hour, at most ${money(Math.max(...points.map(({ perHour }) => perHour)))}`;
  const onMove = (event: PointerEvent): void => {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    const at = first.at + ((event.clientX - box.left) / Math.max(1, box.width)) * span;
    setHovered(points.findLast((point) => point.at <= at) ?? first);
  };
  const cursor = mark ?? hovered?.at;
  return (
    <figure class={isPlain ? "chart plain" : "chart"}>
      {!isPlain && (
        <figcaption>
          <span class="key cost" /> cost <span class="key on-demand" /> the same on demand
          <span class="push number">
            {hovered === undefined
              ? summary
              : `${timeText(hovered.at)}: ${money(hovered.perHour)}/h, on demand ${money(hovered.onDemandPerHour)}/h`}
          </span>
        </figcaption>
      )}
      <svg
        viewBox={`0 0 ${WIDTH} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={summary}
        {...(!isPlain && { onPointerMove: onMove, onPointerLeave: () => setHovered(undefined) })}
      >
        <path class="area" d={area} />
        {!isPlain && <path class="on-demand-line" d={stepPath(points, x, y, ({ onDemandPerHour }) => onDemandPerHour)} />}
        <path class="cost-line" d={line} />
        {cursor !== undefined && <line class="cursor" x1={x(cursor)} x2={x(cursor)} y1={0} y2={height} />}
      </svg>
      {!isPlain && (
        <div class="axis number faint" aria-hidden="true">
          <span>{timeText(first.at)}</span>
          <span>top {money(most)}/h</span>
          <span>{timeText(last.at)}</span>
        </div>
      )}
    </figure>
  );
}
