import type { JSX } from "preact";
import type { ClaimOverview, ClaimStep, ClusterOverview, CommandOverview, NodeOverview } from "#core/insight/overview/types.ts";
import { counted, duration, money } from "./format.ts";
import { VERDICTS } from "./nodes.tsx";
import { Badge } from "./parts.tsx";
import type { Go } from "./route.ts";

const STEPS: readonly (readonly [ClaimStep | "ready", string])[] = [
  ["created", "created"],
  ["launched", "launched"],
  ["registered", "registered"],
  ["ready", "initialized"],
];
const DONE: Readonly<Record<ClaimStep, number>> = { planned: 0, created: 1, launched: 2, registered: 3 };

/** NodeClaims on their way, with their step and how long the rest usually takes. */
export function Claims({ overview }: { readonly overview: ClusterOverview }): JSX.Element {
  const { claims, stepTimes, at } = overview;
  return (
    <section class="cards" aria-label="NodeClaims on their way">
      {claims.length === 0 && <p class="empty">No NodeClaim is on its way.</p>}
      {claims.map((claim) => (
        <Claim key={claim.name} claim={claim} at={at} />
      ))}
      {stepTimes.length > 0 && (
        <p class="faint">
          Here a NodeClaim usually takes{" "}
          {stepTimes.map(({ step, medianMs }) => `${duration(medianMs) || "0s"} until it is ${step}`).join(", then ")} (medians of{" "}
          {counted(Math.max(...stepTimes.map(({ claims: n }) => n)), "NodeClaim")}).
        </p>
      )}
    </section>
  );
}

function Claim({ claim, at }: { readonly claim: ClaimOverview; readonly at: number }): JSX.Element {
  const { name, nodePool, step, since, instanceType, capacityType, zone, pods, usualMs, problem } = claim;
  const left = usualMs === undefined ? undefined : since + usualMs - at;
  return (
    <article class="card">
      <header>
        <h3>{name}</h3>
        <span class="faint">
          NodePool {nodePool}
          {instanceType !== "" && `, ${instanceType} ${capacityType} in ${zone}`}
        </span>
      </header>
      <ol class="steps">
        {STEPS.map(([key, title], i) => (
          <li
            key={key}
            class={i < DONE[step] ? "done" : i === DONE[step] ? "now" : ""}
            {...(i === DONE[step] && { "aria-current": "step" })}
          >
            {title}
          </li>
        ))}
      </ol>
      <p>
        {step === "planned" ? "Planned" : `Was ${step}`} {duration(at - since) || "0s"} ago
        {pods > 0 && `, for ${counted(pods, "pod")}`}.{" "}
        {left !== undefined && (left > 0 ? `Usually ready in ${duration(left)}.` : `It takes ${duration(-left)} longer than usual.`)}
      </p>
      {problem !== undefined && <p class="problem">{problem}</p>}
    </article>
  );
}

const PHASES: Readonly<Record<string, string>> = {
  planned: "next",
  Validating: "is checked again",
  Replacing: "waits for replacements",
  Deleting: "drains",
  RollingBack: "is rolled back",
  SetAside: "cannot be read",
};

/** Nodes with the same fate that are named. */
const MAX_NAMED = 6;

/** What disruption does and would do, and why the other nodes stay. */
export function Disruption({ overview, go }: { readonly overview: ClusterOverview; readonly go: Go }): JSX.Element {
  const { commands, nodes, at } = overview;
  const groups = [...Map.groupBy(nodes, ({ fate }) => `${fate.verdict} ${fate.text}`).values()].sort((a, b) => b.length - a.length);
  const going = groups.filter(([node]) => node && ["goes", "next", "leaving"].includes(node.fate.verdict));
  const staying = groups.filter(([node]) => node && ["stays", "unseen", "other"].includes(node.fate.verdict));
  return (
    <section class="cards" aria-label="Disruption">
      <h2>What is being done</h2>
      {commands.length === 0 && <p class="empty">Nothing: no command is under way, and the next pass would decide none.</p>}
      {commands.map((command) => (
        <Command key={`${command.phase} ${command.nodes.join()}`} command={command} at={at} />
      ))}
      {going.length > 0 && <h2>Nodes that go</h2>}
      {going.map((group) => (
        <Group key={group[0]?.name} nodes={group} go={go} />
      ))}
      {staying.length > 0 && <h2>Why the other nodes stay</h2>}
      {staying.map((group) => (
        <Group key={group[0]?.name} nodes={group} go={go} />
      ))}
    </section>
  );
}

function Command({ command, at }: { readonly command: CommandOverview; readonly at: number }): JSX.Element {
  const { phase, reason, since, savingsPerHour, text, replacements } = command;
  return (
    <article class="card">
      <header>
        <Badge kind={phase === "planned" ? "planned" : "leaving"}>{PHASES[phase] ?? phase}</Badge>
        <h3>{reason}</h3>
        {phase !== "planned" && <span class="faint">since {duration(at - since) || "now"}</span>}
        <span class="push number strong">{savingsPerHour > 0 ? `saves ${money(savingsPerHour)}/h` : ""}</span>
      </header>
      <p>
        {phase === "planned" ? "The next pass " : "The command "}
        {text}.
      </p>
      {replacements.length > 0 && (
        <details>
          <summary>{counted(replacements.length, "replacement")}</summary>
          <ul class="reasons">
            {[...Map.groupBy(replacements, (one) => one)].map(([one, list]) => (
              <li key={one}>
                {list.length > 1 && `${list.length} × `}
                {one}
              </li>
            ))}
          </ul>
        </details>
      )}
    </article>
  );
}

function Group({ nodes, go }: { readonly nodes: readonly NodeOverview[]; readonly go: Go }): JSX.Element | null {
  const [first] = nodes;
  if (first === undefined) return null;
  const { fate } = first;
  return (
    <article class="card slim">
      <header>
        <Badge kind={fate.verdict}>{VERDICTS[fate.verdict]}</Badge>
        <h3>{counted(nodes.length, "node")}</h3>
      </header>
      <p>{fate.text}</p>
      {fate.remedy !== undefined && (
        <p>
          <span class="faint">What would free {nodes.length === 1 ? "it" : "them"}:</span> {fate.remedy}
        </p>
      )}
      {fate.details.length > 0 && nodes.length === 1 && (
        <ul class="reasons">
          {fate.details.map((text) => (
            <li key={text}>{text}</li>
          ))}
        </ul>
      )}
      <p class="names">
        {nodes.slice(0, MAX_NAMED).map(({ name }) => (
          <button type="button" key={name} class="link" onClick={() => go({ params: { node: name } }, "push")}>
            {name}
          </button>
        ))}
        {nodes.length > MAX_NAMED && <span class="faint">and {nodes.length - MAX_NAMED} more</span>}
      </p>
    </article>
  );
}
