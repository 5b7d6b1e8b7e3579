// Room core/scheduling/reasons: why a pod was not placed, in words that name the fix. In: a finished Attempt. Out: one
// text for each class of unplaced pods, for `podErrors`, events and the CLI. The texts are golden
// (test/core/scheduling/reasons/explain.golden.txt). Must not know: how the search went; nothing here changes a plan.

import { NODE_POOL } from "../../model/labels.ts";
import type { Snapshot } from "../../model/snapshot.ts";
import { ownerOfGroup } from "../../node-pool/foreign-class.ts";
import { retriedAt, unavailableText } from "../../offerings/unavailable-text.ts";
import { hasDeviceClaims } from "../../pods/device-claims.ts";
import { canonical } from "../../requirements/requirement.ts";
import type { Requirements } from "../../requirements/requirements.ts";
import type { Attempt } from "../attempt.ts";
import type { PodData } from "../problem/pod-class.ts";
import type { Template } from "../problem/template.ts";
import { contradictionText } from "./contradiction.ts";
import { likelyKey, noSuchPoolText } from "./labels.ts";
import { FIRST_OF_OFFERINGS, PoolChecks, type PoolVerdict } from "./pool.ts";
import { TopologyReasons } from "./topology.ts";
import { unavailableTypes, withUnavailable } from "./unavailable.ts";
import { unusablePool } from "./unusable-pool.ts";
import { listed } from "./words.ts";

/** Karpenter's sentence, which users search for, and the fix. */
const DEVICES =
  "pod has Dynamic Resource Allocation requirements that are not yet supported by Karpenter; remove spec.resourceClaims, or run it on nodes that are not a NodePool's";

/** The last relaxation step of each OR-ed required term; it is without preferences. */
function alternatives(relaxations: readonly PodData[]): readonly PodData[] {
  return [...new Map(relaxations.map((podData) => [textOf(podData.strict), podData])).values()];
}

function textOf(set: Requirements): string {
  return [...set.values()].map(canonical).sort().join();
}

type DefinedPools = Pick<Snapshot, "nodePools" | "otherPools" | "unreadablePools" | "now">;

/**
 * Explains why pods were not placed, in words that name the fix: what the pod itself makes impossible, otherwise for
 * each NodePool what ruled it out and what the closest instance type lacks. Everything is computed on demand; results
 * that classes share are computed once.
 *
 *     new Explainer(attempt, snapshot).reason(podClass.index); // "NodePool default: the pod asks for cpu 20, …"
 */
export class Explainer {
  readonly #attempt: Attempt;
  readonly #checks: PoolChecks;
  /** For pools as they are while no offering is unavailable for a while. */
  readonly #lastingChecks: PoolChecks;
  /** Templates of the other pools. */
  readonly #templates: readonly Template[];
  /** Pools that cannot launch nodes for pods, each with the reason. */
  readonly #unusable: readonly (readonly [string, string])[];
  /** Names of the pools that a known controller serves: where pools of ours could take a pod, they are no answer. */
  readonly #othersOwn: ReadonlySet<string>;
  /** Labels that pools give their nodes. */
  readonly #defined: ReadonlySet<string>;
  /** By label key: the key that was probably meant. */
  readonly #likely = new Map<string, string | undefined>();
  #retriedAt: number | undefined;

  constructor(attempt: Attempt, { nodePools: own, otherPools = [], unreadablePools = new Map(), now }: DefinedPools) {
    const nodePools = [...own, ...otherPools];
    this.#attempt = attempt;
    const topology = new TopologyReasons(attempt.topology, attempt.nodes, attempt.problem.axis);
    this.#checks = new PoolChecks(attempt, topology, (key) => this.#likelyKey(key));
    this.#lastingChecks = new PoolChecks(attempt, topology, (key) => this.#likelyKey(key));
    const { templates } = attempt.problem;
    const withTypes = new Set(templates.flatMap(({ name, table }) => (table.types.length > 0 ? [name] : [])));
    const unfit = nodePools.flatMap((pool) => {
      const reason = unusablePool(pool, withTypes.has(pool.metadata.name), now);
      return reason === undefined ? [] : [[pool.metadata.name, reason] as const];
    });
    this.#unusable = [...unfit, ...unreadablePools].sort(([a], [b]) => (a < b ? -1 : 1));
    this.#othersOwn = new Set(
      nodePools.flatMap(({ metadata, spec }) => (ownerOfGroup(spec.template.spec.nodeClassRef.group) === undefined ? [] : [metadata.name])),
    );
    const unusable = new Set(this.#unusable.map(([name]) => name));
    // What commitments leave bounds no pool: its own template says why it takes no pod.
    this.#templates = templates.filter(({ name, paidFor }) => paidFor === undefined && !unusable.has(name));
    this.#defined = new Set(templates.flatMap(({ set }) => [...set.requirements.keys()]));
  }

  /** Why the unplaced pods of a class were not placed. */
  reason(classIndex: number): string {
    const relaxations = this.#attempt.problem.relaxations[classIndex] ?? [];
    const last = relaxations.at(-1);
    if (last === undefined) return "the pod was not considered";
    if (hasDeviceClaims(last.class.example.spec)) return DEVICES;
    const possible = alternatives(relaxations).filter(({ contradiction }) => contradiction === undefined);
    if (possible.length === 0) return contradictionText(last.class.example, last.contradiction ?? "");
    if (this.#attempt.deferred.has(classIndex)) return this.#reserved(possible);
    const templates = this.#templates;
    if (templates.length === 0) {
      if (this.#unusable.length === 0) return "there is no NodePool, so no node can be bought; create one";
      return `no NodePool can launch nodes: ${this.#unusable.map(([name, reason]) => `${name} ${reason}`).join("; ")}`;
    }
    const pools = [...templates, ...this.#unusable.map(([name]) => ({ name }))].map(({ name }) => name);
    const noSuchPool = possible.map(({ strict }) => noSuchPoolText(strict.get(NODE_POOL), pools));
    if (noSuchPool[0] !== undefined && !noSuchPool.includes(undefined)) return noSuchPool[0];
    return [
      ...folded(templates.map((template) => ({ name: template.name, verdict: this.#verdict(template, possible) }))),
      ...this.#unusable.flatMap(([name, reason]) => (this.#othersOwn.has(name) ? [] : [`NodePool ${name} ${reason}`])),
    ].join("; ");
  }

  #reserved(possible: readonly PodData[]): string {
    const { templates, sets } = this.#attempt.problem;
    const ids = templates.flatMap(({ table, set, types }) =>
      possible.flatMap((podData) => {
        const joined = sets.join(set, podData.set);
        return joined === undefined ? [] : table.reservations(joined, types);
      }),
    );
    return `the capacity reservations that suit the pod (${listed([...new Set(ids)].sort())}) are taken by other nodes of this run; the pod is tried again in the next`;
  }

  #verdict(template: Template, possible: readonly PodData[]): PoolVerdict {
    const verdicts = possible.map((podData) => this.#why(template, podData));
    const furthest = verdicts.reduce((best, verdict) => (verdict.stage > best.stage ? verdict : best));
    if (possible.length === 1) return furthest;
    return { ...furthest, text: `${furthest.text} (the nearest of the pod's ${possible.length} required affinity terms)` };
  }

  /** Where a type would do but for offerings that are unavailable for a while, that is the reason. */
  #why(template: Template, podData: PodData): PoolVerdict {
    const verdict = this.#checks.why(template, podData);
    const lasting = verdict.stage < FIRST_OF_OFFERINGS || verdict.isOpen ? undefined : withUnavailable(template);
    if (lasting === undefined) return verdict;
    const other = this.#lastingChecks.why(lasting, podData);
    if (!other.isOpen) return other;
    const { types, set } = this.#lastingChecks.suiting(lasting, podData);
    const unavailable = unavailableTypes(template, types, set);
    const at = retriedAt(unavailable);
    if (at === undefined) return verdict;
    this.#retriedAt = Math.min(at, this.#retriedAt ?? at);
    return { stage: verdict.stage, text: unavailableText(unavailable) };
  }

  /** When the first offering is tried again that a reason so far names, ms since the epoch. */
  get retriedAt(): number | undefined {
    return this.#retriedAt;
  }

  #likelyKey(key: string): string | undefined {
    if (!this.#likely.has(key)) this.#likely.set(key, likelyKey(key, this.#defined));
    return this.#likely.get(key);
  }
}

/**
 * "NodePool a: …", "NodePools b and c: …": pools with the same reason together. Pools whose last check failed latest
 * come first, because events are cut at the end; others keep the order in which they are tried.
 */
function folded(pools: readonly { readonly name: string; readonly verdict: PoolVerdict }[]): readonly string[] {
  const byText = new Map<string, { readonly stage: number; readonly names: string[] }>();
  for (const { name, verdict } of pools) {
    const known = byText.get(verdict.text);
    if (known === undefined) byText.set(verdict.text, { stage: verdict.stage, names: [name] });
    else known.names.push(name);
  }
  return [...byText]
    .sort(([, a], [, b]) => b.stage - a.stage)
    .map(([text, { names }]) => `NodePool${names.length === 1 ? "" : "s"} ${listed(names)}: ${text}`);
}
