import { scenarioToSnapshot } from "#cli/scenario/scenario.ts";
import type { Pod } from "#core/model/pod.ts";
import type { Snapshot } from "#core/model/snapshot.ts";
import { judge } from "../../support/scheduling/check-plan.ts";
import { nameOf, type RawJson } from "../../support/scheduling/judge-rules.ts";
import { brokenRules } from "../disruption-rules.ts";
import type { Pass, Trail } from "./trail.ts";

/** The result of a trail, counted in the same way for ours and for Karpenter's. */
export interface Account {
  /** USD per hour of all nodes. */
  readonly before: number;
  readonly after: number;
  readonly nodesBefore: number;
  readonly nodesAfter: number;
  /** Nodes removed and nodes launched. */
  readonly nodesGone: number;
  readonly nodesBought: number;
  /** Moves of pods that no DaemonSet owns; a pod that moves twice counts twice. */
  readonly podsMoved: number;
  /** Pods that no DaemonSet owns, and those of them that moved more than once. */
  readonly pods: number;
  readonly podsMovedTwice: number;
  readonly passes: number;
  /** Rules that a pass broke, one sentence each. */
  readonly broken: readonly string[];
}

/** Price of a node in USD per hour, without the code that is judged; 0 when its offering is not known. */
function priceTable(scenario: RawJson): (node: RawJson) => number {
  const prices = new Map<string, number>();
  for (const { name, offerings } of scenario.instanceTypes) {
    for (const { zone, capacityType, price } of offerings) prices.set(`${name} ${zone} ${capacityType}`, price);
  }
  return ({ metadata: { labels = {} } }) =>
    prices.get(
      `${labels["node.kubernetes.io/instance-type"]} ${labels["topology.kubernetes.io/zone"]} ${labels["karpenter.sh/capacity-type"]}`,
    ) ?? 0;
}

function isDaemon({ metadata }: RawJson): boolean {
  return (metadata.ownerReferences ?? []).some(({ kind }: RawJson) => kind === "DaemonSet" || kind === "Node");
}

const without = ({ nodeName: _, ...spec }: Pod["spec"]): Pod["spec"] => spec;

/** Plays a trail on its scenario and judges every pass by the independent checkers of decisions and placement. */
export function replay(scenario: RawJson, trail: Trail): Account {
  const priceOf = priceTable(scenario);
  const cost = (nodes: readonly RawJson[]): number => nodes.reduce((sum: number, node) => sum + priceOf(node), 0);
  const frame = scenarioToSnapshot({ ...scenario, nodes: [], nodeClaims: [], pods: [] });
  const broken: string[] = [];
  let cluster: RawJson = { nodes: scenario.nodes, nodeClaims: scenario.nodeClaims, pods: scenario.pods };
  const moves = new Map<string, number>();
  trail.passes.forEach((pass, i) => {
    const step = played(scenario, frame, cluster, pass);
    broken.push(...step.broken.map((rule) => `pass ${i} (${pass.method}): ${rule}`));
    for (const pod of step.moved) moves.set(pod, (moves.get(pod) ?? 0) + 1);
    const saved = cost(cluster.nodes) - cost(step.cluster.nodes);
    if (pass.method !== "drift" && saved <= 0)
      broken.push(`pass ${i} (${pass.method}): costs $${(-saved).toFixed(4)}/h more and moves pods`);
    cluster = step.cluster;
  });
  return {
    before: cost(scenario.nodes),
    after: cost(cluster.nodes),
    nodesBefore: scenario.nodes.length,
    nodesAfter: cluster.nodes.length,
    nodesGone: trail.passes.reduce((sum, { candidates }) => sum + candidates.length, 0),
    nodesBought: trail.passes.reduce((sum, { nodes }) => sum + (nodes ?? []).length, 0),
    podsMoved: [...moves.values()].reduce((sum, times) => sum + times, 0),
    pods: scenario.pods.filter((pod: RawJson) => !isDaemon(pod)).length,
    podsMovedTwice: [...moves.values()].filter((times) => times > 1).length,
    passes: trail.passes.length,
    broken,
  };
}

interface Step {
  readonly cluster: RawJson;
  /** "namespace/name" of each pod that moved. */
  readonly moved: readonly string[];
  readonly broken: readonly string[];
}

function played(scenario: RawJson, frame: Snapshot, cluster: RawJson, pass: Pass): Step {
  const broken = [...brokenRules({ ...frame, ...cluster }, pass)];
  const gone = new Set(pass.candidates);
  const ids = new Set(cluster.nodes.flatMap(({ metadata, spec }: RawJson) => (gone.has(metadata.name) ? [spec.providerID] : [])));
  const leaving: RawJson[] = cluster.pods.filter((pod: RawJson) => gone.has(pod.spec.nodeName) && !isDaemon(pod));
  const waiting = leaving.map((pod: RawJson) => ({ ...pod, spec: without(pod.spec) }));
  const left = {
    nodes: cluster.nodes.filter(({ metadata }: RawJson) => !gone.has(metadata.name)),
    nodeClaims: cluster.nodeClaims.filter(({ status }: RawJson) => !ids.has(status?.providerID)),
    pods: [...cluster.pods.filter(({ spec }: RawJson) => !gone.has(spec.nodeName)), ...waiting],
  };
  const up = { ...left, nodes: [...left.nodes, ...(pass.nodes ?? [])], nodeClaims: [...left.nodeClaims, ...(pass.nodeClaims ?? [])] };
  for (const pod of leaving) if (pass.landed[nameOf(pod)] === undefined) broken.push(`${nameOf(pod)} ran and has no place any more`);
  broken.push(...brokenPlan({ ...scenario, ...up }, { newNodeClaims: [], existingNodes: byNode(pass.landed) }));
  if (pass.replacements.length > 0) broken.push(...brokenPlan({ ...scenario, ...left }, asPlanned(pass)));
  const landed = waiting.map((pod: RawJson) => ({ ...pod, spec: { ...pod.spec, nodeName: pass.landed[nameOf(pod)] } }));
  return {
    cluster: { ...up, pods: [...left.pods.slice(0, left.pods.length - waiting.length), ...landed] },
    moved: leaving.map(nameOf),
    broken,
  };
}

/** The plan before the launch: every type that a replacement may become must hold the pods planned for it. */
function asPlanned({ replacements, landed, nodes }: Pass): RawJson {
  const planned = new Set(replacements.flatMap(({ pods }) => pods));
  const bought = new Set(nodes.map(({ metadata }) => metadata.name));
  const rest = Object.entries(landed).filter(([pod, node]) => !planned.has(pod) && !bought.has(node));
  return { newNodeClaims: replacements, existingNodes: byNode(Object.fromEntries(rest)) };
}

function byNode(landed: Readonly<Record<string, string>>): { readonly name: string; readonly pods: readonly string[] }[] {
  const nodes = new Map<string, string[]>();
  for (const [pod, node] of Object.entries(landed)) {
    const pods = nodes.get(node);
    if (pods) pods.push(pod);
    else nodes.set(node, [pod]);
  }
  return [...nodes].map(([name, pods]) => ({ name, pods }));
}

function brokenPlan(scenario: RawJson, plan: Pick<RawJson, "newNodeClaims" | "existingNodes">): readonly string[] {
  const placed = new Set([...plan.newNodeClaims, ...plan.existingNodes].flatMap(({ pods }) => pods));
  // Pending pods are the subject of provisioning; pods that became pending are reported above.
  const waiting = scenario.pods
    .filter((pod: RawJson) => !pod.spec.nodeName && !placed.has(nameOf(pod)))
    .map((pod: RawJson) => [nameOf(pod), "waits"]);
  return judge(scenario, { ...plan, podErrors: Object.fromEntries(waiting) }).map(
    ({ text, pods }) => `${text}${pods.length > 0 ? `: ${pods.slice(0, 3).join(", ")}` : ""}`,
  );
}
