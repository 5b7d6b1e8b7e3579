import type { JSX } from "preact";
import type { ClaimOverview, ClusterOverview, NodeOverview, PodOverview, WaitingPods } from "#core/insight/overview/types.ts";
import { amount, counted, duration, percent, price } from "./format.ts";
import { VERDICTS } from "./nodes.tsx";
import { Badge } from "./parts.tsx";
import type { Go } from "./route.ts";

/** Clusters of more nodes are shown as a table alone. */
export const MAX_PICTURE_NODES = 24;
/** Pods of a box that are drawn; the rest are counted. */
const MAX_CHIPS = 60;

interface PictureProps {
  readonly overview: ClusterOverview;
  readonly pods: readonly PodOverview[] | undefined;
  readonly go: Go;
}

/** A small cluster as boxes: pods that wait, NodeClaims on their way, and nodes with their pods. */
export function Picture({ overview, pods = [], go }: PictureProps): JSX.Element {
  const { nodes, claims, waiting, at } = overview;
  const byNode = Map.groupBy(pods, ({ node }) => node);
  const joined = new Set(nodes.map(({ nodeClaim }) => nodeClaim));
  return (
    <div class="picture" role="group" aria-label="Picture of the cluster" tabIndex={0}>
      {waiting.map((group) => (
        <WaitingBox key={`${group.state} ${group.text}`} group={group} />
      ))}
      {claims
        .filter(({ name }) => !joined.has(name))
        .map((claim) => (
          <ClaimBox key={claim.name} claim={claim} at={at} />
        ))}
      {nodes.map((node) => (
        <NodeBox key={node.name} node={node} pods={byNode.get(node.name) ?? []} go={go} />
      ))}
      {nodes.length + claims.length + waiting.length === 0 && <p class="empty">No node, and no pod that waits: nothing to pay.</p>}
    </div>
  );
}

function WaitingBox({ group: { state, text, pods } }: { readonly group: WaitingPods }): JSX.Element {
  return (
    <article class={`box waiting ${state}`}>
      <h3>{counted(pods.length, "pod")} waiting</h3>
      <p class="faint clamp" title={text}>
        {text}
      </p>
      <Chips pods={pods} />
    </article>
  );
}

function ClaimBox({ claim, at }: { readonly claim: ClaimOverview; readonly at: number }): JSX.Element {
  const { name, step, since, instanceType, capacityType, usualMs } = claim;
  const left = usualMs === undefined ? 0 : since + usualMs - at;
  return (
    <article class="box coming">
      <h3>{instanceType || "a node"} on its way</h3>
      <p class="faint">
        {name} was {step} {duration(at - since) || "0s"} ago
        {left > 0 && `, usually ready in ${duration(left)}`}
      </p>
      {capacityType !== "" && <Badge kind={capacityType}>{capacityType}</Badge>}
    </article>
  );
}

function NodeBox({ node, pods, go }: { readonly node: NodeOverview; readonly pods: readonly PodOverview[]; readonly go: Go }): JSX.Element {
  const { name, instanceType, capacityType, pricePerHour, state, fate, room } = node;
  return (
    <article class={`box node ${state.replace(" ", "-")}`}>
      <h3>
        <button type="button" class="plain title" onClick={() => go({ params: { node: name } }, "push")} title={name}>
          {instanceType || name}
        </button>
        <span class="push number">{price(pricePerHour)}/h</span>
      </h3>
      <p>
        {capacityType !== "" && <Badge kind={capacityType}>{capacityType}</Badge>}{" "}
        {state === "ready" ? <Badge kind={fate.verdict}>{VERDICTS[fate.verdict]}</Badge> : <Badge kind={state}>{state}</Badge>}
      </p>
      <p class="faint clamp" title={fate.text}>
        {fate.text}
      </p>
      {room.slice(0, 2).map(({ name: resource, requested, allocatable }) => (
        <p key={resource} class="mini">
          <span>{resource}</span>
          <span class="bar-track" aria-hidden="true">
            <span class="bar-fill" style={{ width: `${allocatable === 0 ? 0 : Math.min(100, (100 * requested) / allocatable)}%` }} />
          </span>
          <span class="number">{allocatable === 0 ? "–" : percent(requested / allocatable)}</span>
        </p>
      ))}
      <Chips pods={pods} />
    </article>
  );
}

/** Pods as chips; those of DaemonSets are small. */
function Chips({ pods }: { readonly pods: readonly PodOverview[] }): JSX.Element {
  return (
    <ul class="chips" aria-label={counted(pods.length, "pod")}>
      {pods.slice(0, MAX_CHIPS).map((pod) => (
        <li
          key={`${pod.namespace}/${pod.name}`}
          class={`chip ${pod.phase.toLowerCase()}${pod.owner === "DaemonSet" ? " daemon" : ""}`}
          title={`${pod.namespace}/${pod.name}: ${pod.phase}, cpu ${amount(pod.cpu, "cpu")}, memory ${amount(pod.memory, "memory")}`}
        >
          <span class="hidden">
            {pod.namespace}/{pod.name}
          </span>
        </li>
      ))}
      {pods.length > MAX_CHIPS && <li class="faint">+{pods.length - MAX_CHIPS}</li>}
    </ul>
  );
}
