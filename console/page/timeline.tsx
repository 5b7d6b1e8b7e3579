import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Frame, Story, StoryLine } from "#core/insight/overview/types.ts";
import { Chart } from "./chart.tsx";
import { elapsed, money } from "./format.ts";
import type { Go } from "./route.ts";

/** How fast a story is played: seconds of virtual time in a second. */
const SPEEDS = [5, 10, 30, 120] as const;
/** A pause of the story is passed in this many ms of virtual time at most: an idle cluster shows nothing. */
const MAX_PAUSE_MS = 15_000;

interface TimelineProps {
  readonly stories: readonly Story[];
  readonly story: Story;
  /** Index of the frame that is shown. */
  readonly frame: number;
  /** No time is chosen: the story plays by itself, so that a newcomer sees what the product does. */
  readonly isFresh: boolean;
  readonly go: Go;
}

/** The time line of a story: play it, scrub through it, or jump to one of its lines. */
export function Timeline({ stories, story, frame, isFresh, go }: TimelineProps): JSX.Element {
  const { frames, start, name } = story;
  const [isPlaying, setPlaying] = useState(isFresh);
  const [speed, setSpeed] = useState<number>(10);
  const now = frames[frame];
  useEffect(() => {
    if (!isPlaying) return undefined;
    const next = frames[frame + 1];
    if (now === undefined || next === undefined) {
      setPlaying(false);
      return undefined;
    }
    const timer = setTimeout(() => show(go, name, next), Math.min(MAX_PAUSE_MS, next.at - now.at) / speed);
    return () => clearTimeout(timer);
  }, [isPlaying, frame, frames, now, speed, go, name]);
  const play = (): void => {
    const first = frames[0];
    if (!isPlaying && frame >= frames.length - 1 && first !== undefined) show(go, name, first);
    setPlaying(!isPlaying);
  };
  const points = frames.map(({ at, perHour }) => ({ at, perHour, onDemandPerHour: 0 }));
  return (
    <div class="timeline" role="group" aria-label="Time line">
      <label>
        <span class="hidden">Story</span>
        <select
          value={name}
          onChange={({ currentTarget }) => {
            setPlaying(true);
            go({ params: { story: currentTarget.value, at: "", node: "" } }, "push");
          }}
        >
          {stories.map((one) => (
            <option key={one.name} value={one.name}>
              {one.name}
            </option>
          ))}
        </select>
      </label>
      <button type="button" class="play" onClick={play} aria-label={isPlaying ? "Pause" : "Play"}>
        {isPlaying ? "❚❚" : "▶"}
      </button>
      <span class="number time">{elapsed((now?.at ?? start) - start)}</span>
      <div class="scrub">
        <Chart points={points} height={40} timeText={(at) => elapsed(at - start)} mark={now?.at} isPlain />
        <input
          type="range"
          aria-label="Time of the story"
          aria-valuetext={`${elapsed((now?.at ?? start) - start)}, ${money(now?.perHour ?? 0)} an hour`}
          min={frames[0]?.at ?? 0}
          max={frames.at(-1)?.at ?? 0}
          step={1000}
          value={now?.at ?? 0}
          onInput={({ currentTarget }) => {
            setPlaying(false);
            const at = Number(currentTarget.value);
            const target = frames.findLast((one) => one.at <= at) ?? frames[0];
            if (target !== undefined) show(go, name, target);
          }}
          onKeyDown={(event) => {
            const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
            const target = step === undefined ? undefined : frames[frame + step];
            if (target === undefined) return;
            event.preventDefault();
            setPlaying(false);
            show(go, name, target);
          }}
        />
      </div>
      <span class="number strong">{money(now?.perHour ?? 0)}/h</span>
      <label>
        <span class="hidden">Speed</span>
        <select value={speed} onChange={({ currentTarget }) => setSpeed(Number(currentTarget.value))}>
          {SPEEDS.map((one) => (
            <option key={one} value={one}>
              {one}×
            </option>
          ))}
        </select>
      </label>
    </div>
  );
}

function show(go: Go, story: string, { at, scene }: Frame): void {
  go({ params: { story, at: scene.split("-")[1] ?? String(at) } });
}

interface NarrativeProps {
  readonly story: Story;
  readonly frame: number;
  readonly go: Go;
}

/** What has happened, line by line; a line leads to its time. */
export function Narrative({ story, frame, go }: NarrativeProps): JSX.Element {
  const current = useRef<HTMLLIElement>(null);
  useEffect(() => current.current?.scrollIntoView({ block: "nearest" }), [frame]);
  const lines = story.frames.flatMap((one, i) => one.lines.map((line) => ({ line, i, one })));
  const latest = lines.findLastIndex(({ i }) => i <= frame);
  return (
    <aside class="narrative" aria-label="The story">
      <h2>{story.title}</h2>
      <ol tabIndex={0} aria-label="What happens">
        {lines.map(({ line, i, one }, index) => (
          <li
            key={index}
            class={`${i > frame ? "later" : ""}${line.isError ? " error" : ""}${line.what === "you" || line.what.startsWith("EC2") ? " act" : ""}`}
            ref={index === latest ? current : null}
            {...(index === latest && { "aria-current": "step" as const })}
          >
            <button type="button" onClick={() => show(go, story.name, one)}>
              <span class="number faint">{elapsed(line.at - story.start)}</span>
              <Line line={line} />
            </button>
          </li>
        ))}
      </ol>
    </aside>
  );
}

function Line({ line: { what, which, why } }: { readonly line: StoryLine }): JSX.Element {
  return (
    <span class="line">
      <strong>{what}</strong> {which} {why !== "" && <span class="faint">{why}</span>}
    </span>
  );
}
