import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { ClusterOverview, NodeOverview, PodOverview } from "#core/insight/overview/types.ts";
import { useStory } from "./data.ts";
import { amount, counted, duration, money, percent, price } from "./format.ts";
import { Events } from "./history.tsx";
import { VERDICTS } from "./nodes.tsx";
import { Badge, Facts } from "./parts.tsx";

/** Pods that are listed; the section Pods has all. */
const MAX_PODS = 200;

interface DetailsProps {
  readonly overview: ClusterOverview;
  readonly node: NodeOverview;
  readonly pods: readonly PodOverview[] | undefined;
  /** The cluster whose history says how the node came; undefined where none is read. */
  readonly storyOf: string | undefined;
  readonly onClose: () => void;
}

/** One node: whether it stays and why, its room, and its pods. */
export function Details({ overview, node, pods, storyOf, onClose }: DetailsProps): JSX.Element {
  const heading = useRef<HTMLHeadingElement>(null);
  const { name } = node;
  // Closing the details returns to the former place.
  useEffect(() => {
    const before = document.activeElement;
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  useEffect(() => heading.current?.focus(), [name]);
  // The story of a node that runs grows rarely: once in a minute is enough.
  const story = useStory(storyOf, node.nodeClaim, Math.floor(overview.at / 60_000));
  const own = pods?.filter((pod) => pod.node === name) ?? [];
  const saving = node.onDemandPerHour - node.pricePerHour;
  return (
    <aside
      class="details"
      aria-label={`Node ${name}`}
      onKeyDown={({ key }) => {
        if (key === "Escape") onClose();
      }}
    >
      <header>
        <h2 tabIndex={-1} ref={heading}>
          {name}
        </h2>
        <button type="button" class="plain" onClick={onClose} aria-label="Close">
          ✕
        </button>
      </header>
      <div class="details-body" tabIndex={0} role="region" aria-label="Details">
        <p class="fate">
          <Badge kind={node.fate.verdict}>{VERDICTS[node.fate.verdict]}</Badge> {node.fate.text}
        </p>
        {node.fate.remedy !== undefined && (
          <p>
            <span class="faint">What would free it:</span> {node.fate.remedy}
          </p>
        )}
        {node.fate.details.length > 0 && (
          <ul class="reasons">
            {node.fate.details.map((text) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
        )}
        <Facts
          facts={[
            ["State", node.problem === undefined ? node.state : `${node.state}: ${node.problem}`],
            ["Type", `${node.instanceType || "not known"} ${node.capacityType}`],
            ["Zone", node.zone || "not known"],
            ["NodePool", node.nodePool || "none"],
            ["NodeClaim", node.nodeClaim || "none"],
            ["Age", duration(overview.at - node.createdAt)],
            ...(node.expiresAt === undefined ? [] : [["Expires in", duration(node.expiresAt - overview.at)] as const]),
            ["Price", node.pricePerHour === 0 ? "not known" : `${money(node.pricePerHour)} an hour`],
            ...(saving > 0 && node.pricePerHour > 0
              ? [["On demand", `${price(node.onDemandPerHour)} an hour: ${percent(saving / node.onDemandPerHour)} are saved`] as const]
              : []),
          ]}
        />
        {story !== undefined && story.length > 0 && (
          <>
            <h3>Why it came, and what happened</h3>
            <Events events={story} label={`History of ${name}`} empty="" />
          </>
        )}
        <h3>What pods ask for</h3>
        <ul class="rooms">
          {node.room.map(({ name: resource, requested, allocatable }) => (
            <li key={resource}>
              <span>{resource}</span>
              <span class="bar-track" aria-hidden="true">
                <span class="bar-fill" style={{ width: `${allocatable === 0 ? 0 : Math.min(100, (100 * requested) / allocatable)}%` }} />
              </span>
              <span class="number">
                {amount(requested, resource)} of {amount(allocatable, resource)}
              </span>
            </li>
          ))}
        </ul>
        <h3>{counted(own.length, "pod")}</h3>
        <ul class="pod-list">
          {own.slice(0, MAX_PODS).map((pod) => (
            <li key={`${pod.namespace}/${pod.name}`}>
              <span class="name" title={`${pod.namespace}/${pod.name}`}>
                <span class="faint">{pod.namespace}/</span>
                {pod.name}
              </span>
              <span class="number faint">
                {amount(pod.cpu, "cpu")} cpu, {amount(pod.memory, "memory")}
              </span>
            </li>
          ))}
        </ul>
        {own.length > MAX_PODS && <p class="faint">and {own.length - MAX_PODS} more; see Pods</p>}
      </div>
    </aside>
  );
}
