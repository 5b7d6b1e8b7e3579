import type { FleetResult } from "#core/model/fleet.ts";
import type { LaunchGroup } from "#core/model/launch-group.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { NodePool } from "#core/model/node-pool.ts";
import type { Pod } from "#core/model/pod.ts";
import type { NodeClaimStore } from "#core/ports/node-claim-store.ts";
import { PRODUCT } from "#lab/world/api-server.ts";
import type { CloudEvent } from "#lab/world/cloud-events.ts";
import type { PortCall } from "#lab/world/intercept.ts";
import { currentInvocation } from "#lab/world/invocation.ts";
import type { SimulatedInstance } from "#lab/world/simulated-instance.ts";
import type { Change } from "#lab/world/store.ts";
import { CLAIM_UID, GROUP, HOLD, instanceIdOf, isDaemon, isDisrupted, POOL, SICKNESS } from "./facts.ts";

/** The life of a NodeClaim as the API server and EC2 saw it. Times in ms since the epoch. */
export interface ClaimLife {
  readonly uid: string;
  readonly name: string;
  readonly pool: string;
  readonly byUser: boolean;
  readonly addedAt: number;
  /** When the intent for it was written; the NodeClaim follows. */
  readonly plannedAt: number;
  claim: NodeClaim;
  machine?: SimulatedInstance;
  nodeName?: string;
  /** When its node carried the label karpenter.sh/initialized. */
  initializedAt?: number;
  registeredAt?: number;
  /** When the product put the disrupted taint on its node; absent when the taint is off again. */
  taintedAt?: number;
  untaintedAt?: number;
  /** When the deletion of the NodeClaim was requested, and by whom. */
  deletedAt?: number;
  deletedBy?: string;
  /** Whether its node had the disrupted taint by then: a disruption ends it. */
  wasTainted?: boolean;
  goneAt?: number;
  /** When somebody else than the product deleted its node. */
  nodeDeletedAt?: number;
  /** The first notice of EC2 about its machine: interruption, retirement, or its end. */
  notice?: { readonly at: number; readonly what: string };
  /** When a notice of another kind than the first one came. */
  otherNoticeAt?: number;
  /** When its machine began to end. */
  machineEndedAt?: number;
  /** Since when its node's hardware is broken, and until when, if it works again. */
  sick?: { readonly from: number; until?: number } | undefined;
  /** The time before `sick` in which it was broken and worked again. */
  sickBefore?: { readonly from: number; readonly until: number };
  /** EC2 has answered a launch without an instance, or has refused it. */
  refusedAt?: number;
}

/** A pod with the times of its stay on a node. */
export interface PodLife {
  pod: Pod;
  readonly addedAt: number;
  nodeName?: string;
  boundAt?: number;
  /** When its deletion was requested or it finished. */
  endedAt?: number;
  /** When karpenter.sh/do-not-disrupt was last put on it, changed or taken off. */
  holdChangedAt: number;
}

/** What a disruption command has promised: these nodes go once those are up. */
export interface Replacing {
  readonly at: number;
  /** Names of NodeClaims. */
  readonly candidates: readonly string[];
  readonly replacements: readonly string[];
}

interface Edition<T> {
  readonly from: number;
  readonly object: T;
}

/**
 * What the fake EC2 and the fake API server saw from the start of a run. Laws take their excuses from here: nothing in
 * it is read from the product's own records.
 */
export interface History {
  /** The most that two clocks of the run may differ, ms. */
  readonly skewMs: number;
  readonly claims: ReadonlyMap<string, ClaimLife>;
  readonly pods: ReadonlyMap<string, PodLife>;
  claimNamed(name: string): ClaimLife | undefined;
  /** The last command that replaces the NodeClaim of this name. */
  replacing(name: string): Replacing | undefined;
  /** Whether the NodeClaim of this name replaces others. */
  isReplacement(name: string): boolean;
  claimOfNode(nodeName: string): ClaimLife | undefined;
  claimOfInstance(id: string): ClaimLife | undefined;
  /**
   * The UID of the NodeClaim whose machine it is: by its tags, or by what a NodeClaim has shown of a machine that was
   * launched together with others. "" before that.
   */
  uidOf(instance: { readonly id: string; readonly tags: Readonly<Record<string, string>> }): string;
  /** The NodeClaims that have joined a launch together. */
  membersOf(group: string | undefined): readonly ClaimLife[];
  /**
   * When EC2 last said that an offering has no capacity: in answer to a launch, or as it took a spot machine back.
   * -Infinity before.
   */
  soldOutAt(): number;
  /** The pods, without those of DaemonSets, that stayed on the node at the time. */
  podsOn(nodeName: string, at: number): readonly PodLife[];
  /** The NodePool as it was at any time in [from, to]. */
  poolsWithin(name: string, from: number, to: number): readonly NodePool[];
  /** When the running invocation last listed objects of the kind; undefined when it has not. */
  readAt(kind: string): number | undefined;
  onChange(change: Change): void;
  onLaunch(machine: SimulatedInstance): void;
  onResult(call: PortCall, result: unknown): void;
  onEvent(event: CloudEvent): void;
}

const ENDING: ReadonlySet<string> = new Set(["stopping", "stopped", "shutting-down", "terminated"]);
const NOTICES: Readonly<Record<string, string>> = {
  "EC2 Spot Instance Interruption Warning": "interruption",
  "AWS Health Event": "retirement",
};

/** Whether EC2 has announced that it takes the spot machine back. */
export const isInterrupted = ({ notice }: ClaimLife): boolean => notice?.what === "interruption";

interface Notice {
  readonly at: number;
  readonly what: string;
  readonly isEnd: boolean;
}

type WriteIntents = Parameters<NodeClaimStore["writeIntents"]>;

export function history(clock: { now(): number }, skewMs: number): History {
  const claims = new Map<string, ClaimLife>();
  const byInstance = new Map<string, ClaimLife>();
  const byNode = new Map<string, ClaimLife>();
  const pods = new Map<string, PodLife>();
  const onNode = new Map<string, Set<PodLife>>();
  const pools = new Map<string, Edition<NodePool>[]>();
  const plans = new Map<string, number>();
  const promises = new Map<string, Replacing>();
  const replacements = new Set<string>();
  let soldOutAt = Number.NEGATIVE_INFINITY;
  const byName = new Map<string, ClaimLife>();
  const reads = new WeakMap<object, Map<string, number>>();

  const joined = new Map<string, Set<string>>();
  const membersOf = (group: string | undefined): readonly ClaimLife[] =>
    [...(joined.get(group ?? "") ?? [])].flatMap((name) => byName.get(name) ?? []);
  /** Machines of groups, until a NodeClaim shows them. */
  const unshown = new Map<string, SimulatedInstance>();
  /** What EC2 has announced of them meanwhile. */
  const early = new Map<string, Notice[]>();
  const announce = (life: ClaimLife, notice: Notice): void => {
    if (notice.isEnd) life.machineEndedAt ??= notice.at;
    life.notice ??= notice;
    if (life.notice.what !== notice.what) life.otherNoticeAt ??= notice.at;
  };

  const changeOfClaim = ({ type, object, user, verb }: Change): void => {
    const claim = object as unknown as NodeClaim;
    const uid = claim.metadata.uid ?? "";
    const now = clock.now();
    let life = claims.get(uid);
    if (life === undefined) {
      const byUser = type === "ADDED" && user !== PRODUCT;
      const { name, labels } = claim.metadata;
      life = { uid, name, pool: labels?.[POOL] ?? "", byUser, addedAt: now, plannedAt: plans.get(name) ?? now, claim };
      claims.set(uid, life);
      byName.set(name, life);
    }
    life.claim = claim;
    const id = instanceIdOf(claim.status?.providerID) ?? "";
    const machine = unshown.get(id);
    if (machine) {
      unshown.delete(id);
      life.machine = machine;
      byInstance.set(id, life);
      for (const notice of early.get(id) ?? []) announce(life, notice);
    }
    if (life.deletedAt === undefined && (verb === "delete" || type === "DELETED")) {
      life.deletedAt = now;
      life.deletedBy = user;
      life.wasTainted = life.taintedAt !== undefined;
    }
    if (type === "DELETED") life.goneAt = now;
  };

  const changeOfNode = ({ type, object, old, user, verb }: Change): void => {
    const node = object as unknown as Parameters<typeof isDisrupted>[0];
    const now = clock.now();
    const life = byInstance.get(instanceIdOf(node.spec.providerID) ?? "");
    // A node may say that it runs on a machine that is another's.
    if (life === undefined || life.machine?.nodeName !== node.metadata.name) return;
    life.nodeName = node.metadata.name;
    byNode.set(node.metadata.name, life);
    if (node.metadata.labels?.["karpenter.sh/initialized"] === "true") life.initializedAt ??= now;
    if (node.metadata.labels?.["karpenter.sh/registered"] === "true") life.registeredAt ??= now;
    if (user !== PRODUCT && (verb === "delete" || type === "DELETED")) life.nodeDeletedAt ??= now;
    const isSick = node.status?.conditions?.some(({ type, status }) => type === SICKNESS && status === "False") ?? false;
    if (isSick && (life.sick === undefined || life.sick.until !== undefined)) {
      const { from, until } = life.sick ?? {};
      if (from !== undefined && until !== undefined) life.sickBefore = { from, until };
      life.sick = { from: now };
    }
    if (!isSick && life.sick !== undefined) life.sick.until ??= now;
    const before = old !== undefined && isDisrupted(old as unknown as typeof node);
    if (isDisrupted(node) && !before) life.taintedAt = now;
    if (before && !isDisrupted(node)) {
      delete life.taintedAt;
      life.untaintedAt = now;
      // The command is given up; a later one may need no replacement.
      promises.delete(life.name);
    }
  };

  const changeOfPod = ({ type, object, verb }: Change): void => {
    const pod = object as unknown as Pod;
    const uid = pod.metadata.uid ?? "";
    const now = clock.now();
    const life = pods.get(uid) ?? { pod, addedAt: now, holdChangedAt: now };
    pods.set(uid, life);
    if (life.pod.metadata.annotations?.[HOLD] !== pod.metadata.annotations?.[HOLD]) life.holdChangedAt = now;
    life.pod = pod;
    if (pod.spec.nodeName !== undefined && life.boundAt === undefined) {
      life.boundAt = now;
      life.nodeName = pod.spec.nodeName;
      const there = onNode.get(pod.spec.nodeName) ?? new Set();
      onNode.set(pod.spec.nodeName, there.add(life));
    }
    const isOver = pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed";
    if (life.endedAt === undefined && (verb === "delete" || type === "DELETED" || isOver)) life.endedAt = now;
  };

  const written = ([, records, command]: WriteIntents): void => {
    const now = clock.now();
    for (const { name } of records) if (!plans.has(name)) plans.set(name, now);
    if (command === undefined) return;
    const candidates = command.candidates.map(({ nodeClaim }) => nodeClaim);
    for (const name of command.replacementClaims) replacements.add(name);
    for (const name of candidates) promises.set(name, { at: now, candidates, replacements: command.replacementClaims });
  };

  return {
    skewMs,
    claims,
    pods,
    claimNamed: (name) => byName.get(name),
    replacing: (name) => promises.get(name),
    isReplacement: (name) => replacements.has(name),
    soldOutAt: () => soldOutAt,
    claimOfNode: (nodeName) => byNode.get(nodeName),
    claimOfInstance: (id) => byInstance.get(id),
    uidOf: ({ id, tags }) => tags[CLAIM_UID] ?? byInstance.get(id)?.uid ?? "",
    membersOf,
    podsOn: (nodeName, at) =>
      [...(onNode.get(nodeName) ?? [])].filter(
        ({ pod, boundAt = Number.POSITIVE_INFINITY, endedAt = Number.POSITIVE_INFINITY }) =>
          boundAt <= at && endedAt > at && !isDaemon(pod),
      ),
    poolsWithin(name, from, to) {
      const editions = pools.get(name) ?? [];
      const last = editions.findLastIndex((edition) => edition.from <= from);
      return editions.slice(Math.max(last, 0)).flatMap((edition) => (edition.from <= to ? [edition.object] : []));
    },
    readAt(kind) {
      const invocation = currentInvocation();
      return invocation && reads.get(invocation)?.get(kind);
    },
    onChange(change) {
      switch (change.kind) {
        case "NodeClaim":
          return changeOfClaim(change);
        case "Node":
          return changeOfNode(change);
        case "Pod":
          return changeOfPod(change);
        case "NodePool": {
          const pool = change.object as unknown as NodePool;
          const editions = pools.get(pool.metadata.name) ?? [];
          pools.set(pool.metadata.name, editions);
          editions.push({ from: clock.now(), object: pool });
        }
      }
    },
    onLaunch(machine) {
      if (machine.instance.tags[GROUP] !== undefined) unshown.set(machine.instance.id, machine);
      const life = claims.get(machine.instance.tags[CLAIM_UID] ?? "");
      if (life === undefined) return;
      life.machine = machine;
      byInstance.set(machine.instance.id, life);
    },
    onResult({ port, method, args, invocation }, result) {
      if (port === "kubernetes" && method === "list" && invocation) {
        const times = reads.get(invocation) ?? new Map<string, number>();
        reads.set(invocation, times.set(String(args[0]), clock.now()));
      }
      if (port === "store" && method === "writeIntents") written(args as WriteIntents);
      if (port === "store" && method === "joinLaunch") {
        const [, group, { name }] = args as Parameters<NodeClaimStore["joinLaunch"]>;
        const { members, launch } = result as LaunchGroup;
        // A closed group takes nobody.
        if (launch === undefined && members.some((one) => one.name === name)) joined.set(group, (joined.get(group) ?? new Set()).add(name));
      }
      if (port !== "fleet" || method !== "launch") return;
      const [{ tags, count = 1 }] = args as [{ readonly tags: Readonly<Record<string, string>>; readonly count?: number }];
      const life = claims.get(tags[CLAIM_UID] ?? "");
      const { instance, others = [], errors } = result as FleetResult;
      if (life && instance === undefined) life.refusedAt = clock.now();
      // Which of them have none shows only later.
      if (instance === undefined || others.length + 1 < count) for (const one of membersOf(tags[GROUP])) one.refusedAt = clock.now();
      if (errors.length > 0) soldOutAt = clock.now();
    },
    onEvent({ "detail-type": type, detail, resources }) {
      const isEnd = ENDING.has(String(detail["state"]));
      const what = NOTICES[type] ?? (isEnd ? "end of the machine" : undefined);
      const id = String(detail["instance-id"] ?? resources[0]);
      if (what === "interruption") soldOutAt = clock.now();
      if (what === undefined) return;
      const notice = { at: clock.now(), what, isEnd };
      const life = byInstance.get(id);
      if (life !== undefined) return announce(life, notice);
      // Of machines that were launched together, only their NodeClaims say whose they are.
      if (unshown.has(id)) early.set(id, [...(early.get(id) ?? []), notice]);
    },
  };
}
