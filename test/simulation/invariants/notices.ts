import type { FleetRequest } from "#core/model/fleet.ts";
import type { Pod } from "#core/model/pod.ts";
import { PRODUCT } from "#lab/world/api-server.ts";
import type { SimulatedInstance } from "#lab/world/simulated-instance.ts";
import { expiresAt } from "./causes.ts";
import { CLAIM_NAME, CLAIM_UID, GROUP, isHeld, nameOf } from "./facts.ts";
import { type ClaimLife, isInterrupted } from "./history.ts";
import type { Invariant, Scene } from "./invariant.ts";

/** The message of a killed invocation returns after the queue's 40 s; this allows two attempts and their work, ms. */
const ACT_WITHIN_MS = 100_000;

/** The interrupted NodeClaims whose notice came so long ago, each once. */
function interruptedFor(ms: number, { history }: Scene): (now: number) => readonly ClaimLife[] {
  const judged = new Set<string>();
  return (now) => {
    const due = [...history.claims.values()].filter(
      (life) => isInterrupted(life) && now - (life.notice?.at ?? now) >= ms && !judged.has(life.uid),
    );
    for (const { uid } of due) judged.add(uid);
    return due;
  };
}

/** How many faults have hit the functions since a time. The function and its queue share a name. */
const hitsOf = ({ faults }: Scene, from: number, names: readonly string[]): readonly string[] =>
  faults.hits.flatMap(({ at, fn, what }) => (at >= from && names.includes(fn) ? [what] : []));

export const noticesHeeded: Invariant = {
  name: "notices heeded",
  law: "A spot interruption notice that meets at most one fault is acted upon while its machine still lives.",
  watch: (scene, violated) => {
    const due = interruptedFor(ACT_WITHIN_MS, scene);
    return {
      check: ({ now }) => {
        for (const { name, notice, machine, deletedAt } of due(now)) {
          if (!notice || !machine || deletedAt !== undefined) continue;
          if (isUnrecorded(notice.at - scene.faults.recordsLostAt())) continue;
          // What kept the launch of a young machine from being stored counts, too.
          const since = Math.min(notice.at, Math.max(machine.instance.launchedAt, notice.at - ACT_WITHIN_MS));
          const hits = hitsOf(scene, since, ["interruption", "lifecycle", "claims"]);
          if (hits.length <= 1 && !hits.some((what) => what.endsWith("message")))
            violated(
              `claim ${name} stays ${Math.round((now - notice.at) / 1_000)} s after the interruption notice of ${machine.instance.id}`,
            );
        }
      },
    };
  },
};

/** From the notice to the end of the machine, ms, less the time that an eviction may take to be seen. */
const RECLAIMED_MS = 120_000;
/** Pods that came this long before the end have had no turn yet, ms. */
const LATE_MS = 45_000;

export const drainedInTime: Invariant = {
  name: "drained in time",
  law: "When EC2 takes an interrupted machine back, its pods have been asked to go: except those that a budget or do-not-disrupt holds.",
  watch: (scene, violated) => {
    const { history, lab } = scene;
    /** When the budget of an application was last changed or taken away, ms. */
    const freed = new Map<string, number>();
    /** When do-not-disrupt was last taken off a pod, by its UID, ms. */
    const unheld = new Map<string, number>();
    const atEnd = ({ notice, nodeName, initializedAt = Number.POSITIVE_INFINITY }: ClaimLife, now: number): void => {
      if (notice === undefined || nodeName === undefined) return;
      const isWhole = now - notice.at >= RECLAIMED_MS - history.skewMs && initializedAt <= notice.at - LATE_MS;
      if (!isWhole || hitsOf(scene, notice.at - LATE_MS, WHO_DRAINS).length > 0) return;
      const standing = lab.world.store.list("PodDisruptionBudget").map(({ spec }) => appOf(spec as Budgeted));
      const budgeted = [...standing, ...[...freed].flatMap(([app, at]) => (now - at < LATE_MS ? [app] : []))];
      const left = history
        .podsOn(nodeName, now)
        .find(
          ({ pod, boundAt = now }) =>
            Math.max(boundAt, unheld.get(pod.metadata.uid ?? "") ?? 0) <= now - LATE_MS &&
            !isHeld(pod, notice.at) &&
            !budgeted.includes(pod.metadata.labels?.["app"]),
        );
      if (left) violated(`pod ${nameOf(left.pod)} was never asked to leave ${nodeName} in the two minutes after its notice`);
    };
    lab.cloud.onEvent(({ detail }) => {
      const life = detail["state"] === "shutting-down" && history.claimOfInstance(String(detail["instance-id"]));
      if (life && isInterrupted(life)) atEnd(life, lab.world.clock.now());
    });
    return {
      onChange({ kind, type, object, old }) {
        const now = lab.world.clock.now();
        if (kind === "Pod" && type === "MODIFIED" && isHeld(old as Pod, now) && !isHeld(object as Pod, now))
          unheld.set(object.metadata.uid ?? "", now);
        if (kind !== "PodDisruptionBudget" || type === "ADDED") return;
        const app = appOf(((old ?? object) as unknown as { readonly spec: Budgeted }).spec);
        if (app !== undefined) freed.set(app, now);
      },
    };
  },
};

const appOf = ({ selector }: Budgeted): string | undefined => selector.matchLabels?.["app"];

const WHO_DRAINS = ["interruption", "lifecycle", "claims", "provision"];

interface Budgeted {
  readonly selector: { readonly matchLabels?: Readonly<Record<string, string>> };
}

/** How long an offering that was taken back is not asked for, ms: less what each of two readings may differ. */
const MARKED_MS = 180_000;

export const noticesRemembered: Invariant = {
  name: "notices remembered",
  law: "A NodeClaim made after a spot notice was acted upon does not ask EC2 for that type in that zone within three minutes.",
  watch: ({ history, lab, faults }, violated) => {
    const sent = new Set<string>();
    return {
      onCall: ({ port, method, args }) => {
        if (port !== "fleet" || method !== "launch") return;
        const [request] = args as [FleetRequest];
        if (request.capacityType !== "spot" || sent.has(request.clientToken)) return;
        sent.add(request.clientToken);
        const life = history.claims.get(request.tags[CLAIM_UID] ?? "");
        const added = [...(life ? [life] : []), ...history.membersOf(request.tags[GROUP])].map(({ addedAt }) => addedAt);
        if (added.length === 0) return;
        const now = lab.world.clock.now();
        const lost = [...history.claims.values()].filter(
          (other) =>
            wasHeeded(other, Math.min(...added), history.skewMs) &&
            (other.notice?.at ?? 0) > faults.tableLostAt() &&
            !isUnrecorded((other.notice?.at ?? 0) - faults.recordsLostAt()) &&
            now - (other.notice?.at ?? 0) < MARKED_MS - 2 * history.skewMs,
        );
        const again = request.launchTemplates
          .flatMap(({ overrides }) => overrides)
          .find(({ instanceType, zone }) => lost.some(({ machine }) => isOf(machine, instanceType, zone)));
        if (again)
          violated(
            `${request.tags[CLAIM_NAME] ?? request.tags[GROUP]} asks for spot ${again.instanceType} in ${again.zone}, which EC2 has just taken back`,
          );
      },
    };
  },
};

/** A NodeClaim whose record is lost is adopted by then, ms: until then nobody knows whose instance a notice names. */
const ADOPTED_WITHIN_MS = 2 * 60_000;
const isUnrecorded = (sinceLossMs: number): boolean => sinceLossMs >= 0 && sinceLossMs < ADOPTED_WITHIN_MS;

/** Whether the product had ended the NodeClaim for its spot notice, and not for something else, before the time. */
function wasHeeded(life: ClaimLife, before: number, skewMs: number): boolean {
  const { notice, registeredAt, deletedAt, deletedBy, wasTainted } = life;
  const NEVER = Number.POSITIVE_INFINITY;
  const { machineEndedAt = NEVER, otherNoticeAt = NEVER, nodeDeletedAt = NEVER } = life;
  if (!isInterrupted(life) || wasTainted || notice === undefined || registeredAt === undefined || deletedAt === undefined) return false;
  return (
    registeredAt < notice.at &&
    deletedBy === PRODUCT &&
    deletedAt >= notice.at &&
    deletedAt < Math.min(before, machineEndedAt, otherNoticeAt, nodeDeletedAt, expiresAt(life) - skewMs)
  );
}

const isOf = (machine: SimulatedInstance | undefined, instanceType: string, zone: string): boolean =>
  machine?.instance.instanceType === instanceType && machine.instance.zone === zone;
