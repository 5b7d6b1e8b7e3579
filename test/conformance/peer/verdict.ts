import type { PlannedCommand } from "#cli/consolidate/consolidate.ts";
import { writtenClaim } from "#cli/scenario/planned-claim.ts";
import type { DisruptionPlan } from "#core/disruption/plan.ts";
import { judge } from "../../support/scheduling/check-plan.ts";
import { claimPrice } from "../../support/scheduling/claim-price.ts";
import type { RawJson } from "../../support/scheduling/judge-rules.ts";
import { brokenPlacement } from "../disruption-placement.ts";
import { brokenRules as brokenDisruptionRules, hourlyPrice } from "../disruption-rules.ts";
import { ourPass, ourPlan, type PeerCase, peerSnapshot } from "./case.ts";
import { classesOf, nodeClasses, podClasses } from "./equivalence.ts";

/** Prices closer than this are equal (USD per hour), because they are sums of floats. */
const PRICE_TOLERANCE = 1e-6;

/**
 * alike: the same answer, up to pods and nodes that cannot be told apart. lawful: another answer that breaks no rule,
 * places what Karpenter places, and costs no more or saves no less. differs: everything else, with why.
 */
export interface PeerVerdict {
  readonly verdict: "alike" | "lawful" | "differs";
  readonly why: readonly string[];
}

/** Our answer to one case, compared with Karpenter's by judges that share no code with what they judge. */
export function peerVerdict(one: PeerCase): PeerVerdict {
  return one.kind === "solve" ? planVerdict(one, ourPlan(one)) : passVerdict(one, ourPass(one));
}

function planVerdict({ scenario, karpenter }: PeerCase, ours: RawJson): PeerVerdict {
  const broken = judge(scenario, ours).map(({ text, pods }) => `${text}${pods.length > 0 ? `: ${pods.slice(0, 3).join(", ")}` : ""}`);
  const theirFindings = judge(scenario, karpenter);
  const excused = new Set(theirFindings.flatMap(({ pods }) => pods));
  const [placed, theirs] = [placedBy(ours), placedBy(karpenter)];
  const left = [...theirs].filter((pod) => !placed.has(pod) && !excused.has(pod));
  const [price, theirPrice] = [priceOf(scenario, ours), priceOf(scenario, karpenter)];
  const isSamePods = placed.size === theirs.size && theirFindings.length === 0;
  const bad = [
    ...broken.map((rule) => `breaks a rule: ${rule}`),
    ...left.map((pod) => `leaves ${pod}, which Karpenter places: ${ours.podErrors[pod] ?? "no reason"}`),
    ...(isSamePods && price > theirPrice + PRICE_TOLERANCE
      ? [`costs $${price.toFixed(4)}/h, Karpenter's plan $${theirPrice.toFixed(4)}/h`]
      : []),
  ];
  if (bad.length > 0) return { verdict: "differs", why: bad };
  const classes = podClasses(scenario);
  if (planText(scenario, ours, classes) === planText(scenario, karpenter, classes)) return { verdict: "alike", why: [] };
  const more = [...placed].filter((pod) => !theirs.has(pod)).length;
  return {
    verdict: "lawful",
    why: [
      `${ours.newNodeClaims.length} / ${karpenter.newNodeClaims.length} NodeClaims, $${price.toFixed(4)} / $${theirPrice.toFixed(4)} an hour`,
      ...(more > 0 ? [`places ${more} pods more`] : []),
      ...theirFindings.map(({ text, pods }) => `Karpenter's plan breaks a rule: ${text}: ${pods.slice(0, 2).join(", ")}`),
    ],
  };
}

function placedBy(plan: RawJson): Set<string> {
  return new Set([...plan.newNodeClaims, ...plan.existingNodes].flatMap(({ pods }: RawJson) => pods));
}

function priceOf(scenario: RawJson, plan: RawJson): number {
  return plan.newNodeClaims.reduce((sum: number, claim: RawJson) => sum + claimPrice(scenario, claim), 0);
}

/** A plan as text that is equal for plans which differ only by exchanged pods. */
function planText(scenario: RawJson, plan: RawJson, classes: ReadonlyMap<string, string>): string {
  const claims = plan.newNodeClaims.map((claim: RawJson) => [
    claim.nodePool,
    classesOf(claim.pods, classes),
    claimPrice(scenario, claim).toFixed(6),
  ]);
  const nodes = plan.existingNodes
    .filter(({ pods }: RawJson) => pods.length > 0)
    .map(({ name, pods }: RawJson) => [name, classesOf(pods, classes)]);
  return JSON.stringify([claims.map(String).sort(), nodes.map(String).sort()]);
}

function passVerdict(one: PeerCase, { command }: DisruptionPlan): PeerVerdict {
  const { scenario, karpenter } = one;
  const snapshot = peerSnapshot(one);
  const ours: PlannedCommand | undefined = command && {
    method: command.method,
    candidates: command.candidates.map(({ node }) => node),
    replacements: command.replacements.map(writtenClaim),
    decision: command.decision,
    savings: command.savingsPerHour,
  };
  const theirs: readonly RawJson[] = karpenter.commands;
  const isStatic = theirs.some(({ method }) => method === "static-drift");
  const broken =
    ours === undefined ? [] : [...brokenDisruptionRules(snapshot, ours), ...(isStatic ? [] : brokenPlacement(scenario, snapshot, ours))];
  const saved = (found: RawJson): number =>
    found === undefined
      ? 0
      : found.candidates.reduce((sum: number, node: string) => sum + hourlyPrice(snapshot, node), 0) -
        priceOf(scenario, { newNodeClaims: found.replacements });
  const texts = `ours: ${commandWords(ours, saved(ours))} | Karpenter: ${theirs.map((found) => commandWords(found, saved(found))).join("; ") || "nothing"}`;
  if (broken.length > 0) return { verdict: "differs", why: [texts, ...broken.map((rule) => `breaks a rule: ${rule}`)] };
  const classes = nodeClasses(scenario);
  const text = (found: RawJson): string =>
    JSON.stringify([
      found.decision,
      classesOf(found.candidates, classes),
      found.replacements.map(({ nodePool }: RawJson) => nodePool).sort(),
      // Karpenter's StaticDrift chooses the types of a replacement later.
      isStatic ? "" : saved(found).toFixed(6),
    ]);
  // A pass of ours is one command, and a pass of Karpenter's StaticDrift is one for each node that the budget allows.
  const isAlike = ours === undefined ? theirs.length === 0 : theirs.some((found) => text(found) === text(ours));
  if (isAlike) return { verdict: "alike", why: [] };
  if (ours === undefined) return { verdict: "differs", why: [texts] };
  const isNoWorse = saved(ours) >= Math.max(0, ...theirs.map(saved)) - PRICE_TOLERANCE;
  return { verdict: isNoWorse ? "lawful" : "differs", why: [texts] };
}

function commandWords(found: RawJson, saved: number): string {
  if (found === undefined) return "nothing";
  return `${found.method} ${found.decision} [${found.candidates.join(" ")}] -> ${found.replacements.length} saves $${saved.toFixed(4)}`;
}
