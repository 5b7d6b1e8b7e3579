import type { ComponentChildren, JSX } from "preact";
import type { NodeResource } from "#core/insight/overview/types.ts";
import { SPANS } from "./data.ts";
import { amount, percent } from "./format.ts";
import type { Go } from "./route.ts";

/** How much of a node's resource pods ask for: a bar with its share. */
export function Bar({ room }: { readonly room: NodeResource | undefined }): JSX.Element {
  if (room === undefined || room.allocatable === 0) return <span class="faint">–</span>;
  const share = room.requested / room.allocatable;
  const text = `${percent(share)}: ${amount(room.requested, room.name)} of ${amount(room.allocatable, room.name)}`;
  return (
    <span class="bar" title={`${room.name} ${text}`}>
      <span class="bar-track" aria-hidden="true">
        <span class={`bar-fill${share > 1 ? " over" : ""}`} style={{ width: `${Math.min(1, share) * 100}%` }} />
      </span>
      <span class="bar-text">{percent(share)}</span>
    </span>
  );
}

/** A word with a colour of its class: a capacity type, a state. */
export function Badge({ kind, children }: { readonly kind: string; readonly children: ComponentChildren }): JSX.Element {
  return <span class={`badge ${kind.replaceAll(/[^a-z]+/gi, "-")}`}>{children}</span>;
}

/** A number of the headline, with what it means. */
export function Stat({
  label,
  value,
  note,
  tone = "",
}: {
  readonly label: string;
  readonly value: ComponentChildren;
  readonly note?: ComponentChildren;
  readonly tone?: string;
}): JSX.Element {
  return (
    <div class={`stat ${tone}`}>
      <dt>{label}</dt>
      <dd>
        <span class="stat-value">{value}</span>
        {note !== undefined && <span class="stat-note">{note}</span>}
      </dd>
    </div>
  );
}

/** A search field that says how many rows are left. */
export function Search({
  value,
  onChange,
  hint,
  count,
}: {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly hint: string;
  readonly count: string;
}): JSX.Element {
  return (
    <div class="search">
      <label>
        <span class="hidden">Search</span>
        <input
          type="search"
          value={value}
          placeholder={hint}
          spellcheck={false}
          onInput={({ currentTarget }) => onChange(currentTarget.value)}
        />
      </label>
      <span class="faint" role="status">
        {count}
      </span>
    </div>
  );
}

/** Lines of a table of names and values. */
export function Facts({ facts }: { readonly facts: readonly (readonly [string, ComponentChildren])[] }): JSX.Element {
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Chooses how many days of history are shown. */
export function SpanChoice({ days, go }: { readonly days: number; readonly go: Go }): JSX.Element {
  return (
    <label class="span">
      The last{" "}
      <select
        value={days}
        onChange={({ currentTarget }) => go({ params: { days: currentTarget.value === "1" ? "" : currentTarget.value } })}
      >
        {SPANS.map((one) => (
          <option key={one} value={one}>
            {one === 1 ? "day" : `${one} days`}
          </option>
        ))}
      </select>
    </label>
  );
}

/** A table's head: what its rows are, and the titles of its columns of numbers. */
export function NumbersHead({ of, titles }: { readonly of: string; readonly titles: readonly string[] }): JSX.Element {
  return (
    <thead>
      <tr>
        <th scope="col">{of}</th>
        {titles.map((title) => (
          <th key={title} scope="col" class="number">
            {title}
          </th>
        ))}
      </tr>
    </thead>
  );
}
