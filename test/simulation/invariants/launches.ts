import type { LaunchGroup } from "#core/model/launch-group.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import type { SimulatedInstance } from "#lab/world/simulated-instance.ts";
import { CLAIM_NAME, CLAIM_UID, FINALIZER, GROUP, instanceIdOf, isAlive } from "./facts.ts";
import type { Invariant } from "./invariant.ts";

/** EC2 lists an instance by then, ms; what it does not list later was not launched. */
const LISTED_WITHIN_MS = 60_000;

export const launchedOnce: Invariant = {
  name: "launched once",
  law: "No claim is ever launched twice: of all machines that EC2 ever started, no two carry the UID of one claim, unless EC2 hides the first one from its lists for longer than a minute, or it has ended before anybody heard of it.",
  watch: ({ faults, history, lab }, violated) => {
    const started = new Map<string, string>();
    const startedAt = new Map<string, number>();
    /** Whether a list of EC2 lacked the machine so long after it was started. */
    const isHidden = (id: string): boolean =>
      faults.hits.some(
        ({ what, at, about }) => what === "missing in a list" && about === id && at - (startedAt.get(id) ?? 0) >= LISTED_WITHIN_MS,
      );
    /** Whether a machine has ended whose launch was never heard of: its NodeClaim names none. */
    const isLost = (id: string, uid: string): boolean =>
      history.claims.get(uid)?.claim.status?.providerID === undefined &&
      !lab.cloud.machines().some((machine) => machine.instance.id === id && isAlive(machine));
    return {
      onLaunch: ({ instance }: SimulatedInstance) => {
        startedAt.set(instance.id, instance.launchedAt);
        // Machines that were launched together have a law of their own.
        if (instance.tags[GROUP] !== undefined) return;
        const uid = instance.tags[CLAIM_UID] ?? "";
        const other = started.get(uid);
        if (other !== undefined && !isHidden(other) && !isLost(other, uid))
          violated(`${instance.id} was started for claim ${instance.tags[CLAIM_NAME]}, which has ${other} already`);
        started.set(uid, instance.id);
      },
    };
  },
};

/** How long a call may be on its way, ms. */
const IN_PROGRESS_MS = 60_000;

export const launchedTogetherOnce: Invariant = {
  name: "launched together once",
  law: "Of machines that were launched together no two are ever one claim's, none is ever two claims', and no group has more machines than claims that joined it.",
  watch: ({ history }, violated) => {
    const started = new Map<string, string[]>();
    const groupOf = new Map<string, string>();
    const ownerOf = new Map<string, string>();
    const machineOf = new Map<string, string>();
    return {
      onLaunch: ({ instance: { id, tags } }) => {
        const group = tags[GROUP];
        if (group === undefined) return;
        const ids = [...(started.get(group) ?? []), id];
        started.set(group, ids);
        groupOf.set(id, group);
        if (ids.length > history.membersOf(group).length)
          violated(`${id} was started for group ${group}, which has as many machines as claims`);
      },
      onChange: ({ kind, object }) => {
        if (kind !== "NodeClaim") return;
        const { metadata, status } = object as unknown as NodeClaim;
        const id = instanceIdOf(status?.providerID);
        if (id === undefined || !groupOf.has(id)) return;
        // A NodeClaim that is made again after its loss has another UID, and the same name.
        const other = ownerOf.get(id);
        if (other !== undefined && other !== metadata.name) violated(`${id} is that of claim ${metadata.name}, and was that of ${other}`);
        ownerOf.set(id, metadata.name);
        const before = machineOf.get(metadata.uid ?? "");
        if (before !== undefined && before !== id) violated(`claim ${metadata.name} has ${id}, and had ${before}`);
        machineOf.set(metadata.uid ?? "", id);
      },
    };
  },
};

/** The launch time-out, and how long a claim may be given up after without a try, ms. */
const LAUNCH_MS = 300_000;
const UNTRIED_MS = 900_000;

export const givenUpAfterTry: Invariant = {
  name: "given up after a try",
  law: "A claim is not given up as one without a machine while the table has one for it, of those that were launched together, nor before a launch of it has failed after the launch time-out, or none has ended for a quarter of an hour.",
  watch: ({ history, faults }, violated) => {
    /** The group whose answer has a machine for the claim of a name, and when the request of a group last failed. */
    const answered = new Map<string, string>();
    const failedAt = new Map<string, number>();
    const isUntried = ({ createdAt, launchFailedAt = 0, launchUnknownAt = 0, launchGroup, terminating }: NodeClaimRecord): boolean => {
      const tried = Math.max(launchFailedAt, launchUnknownAt, failedAt.get(launchGroup?.id ?? "") ?? 0);
      const { at = 0 } = terminating ?? {};
      return tried + history.skewMs < createdAt + LAUNCH_MS && at + history.skewMs < createdAt + UNTRIED_MS;
    };
    return {
      onResult: ({ port, method }, result) => {
        if (port !== "store") return;
        if (method === "updateLaunchGroup") {
          const { id, answer, launch } = result as LaunchGroup;
          for (const name of Object.keys(answer?.instances ?? {})) answered.set(name, id);
          failedAt.set(id, launch?.unknownAt ?? 0);
        }
        if (method !== "update") return;
        const record = result as NodeClaimRecord;
        const { name, launchGroup, instance, terminating } = record;
        if (terminating?.reason !== "launch_timeout" || instance !== undefined || faults.recordsLostAt() >= record.createdAt) return;
        if (launchGroup && answered.get(name) === launchGroup.id)
          violated(`claim ${name} was given up, and group ${launchGroup.id} has a machine for it`);
        else if (isUntried(record)) violated(`claim ${name} was given up, and no launch of it has failed since its time was over`);
      },
    };
  },
};

export const intentFirst: Invariant = {
  name: "intent first",
  law: "No machine starts before the table says that it is meant to: its claim's record holds the request, or what came of it, or the claim's end; or its group holds the request.",
  watch: ({ lab, table, faults }, violated) => ({
    onLaunch: ({ instance }) => {
      const name = instance.tags[CLAIM_NAME] ?? "";
      const group = instance.tags[GROUP];
      if (group !== undefined) {
        void table.launchGroup(lab.world.cluster, group).then((stored) => {
          if (lab.world.clock.now() - faults.tableLostAt() >= IN_PROGRESS_MS && stored?.launch === undefined)
            violated(`${instance.id} was started for group ${group}, whose item ${stored ? "holds no request" : "does not exist"}`);
        });
        return;
      }
      const found = (record: NodeClaimRecord | undefined): void => {
        // A call may be on its way while its record is lost.
        if (lab.world.clock.now() - faults.recordsLostAt() < IN_PROGRESS_MS) return;
        if (record?.launch === undefined && record?.instance === undefined && record?.terminating === undefined)
          violated(`${instance.id} was started for claim ${name}, whose record ${record ? "holds no request" : "does not exist"}`);
      };
      void table.get(lab.world.cluster, name).then(found);
    },
  }),
};

export const finalizerFirst: Invariant = {
  name: "finalizer first",
  law: "No machine starts for a claim that has never carried the finalizer: deleted meanwhile, it would vanish and leave the machine.",
  watch: ({ history }, violated) => {
    const carried = new Set<string>();
    return {
      onChange: ({ kind, object }) => {
        if (kind === "NodeClaim" && object.metadata.finalizers?.includes(FINALIZER)) carried.add(object.metadata.uid ?? "");
      },
      onLaunch: ({ instance }) => {
        const bare = history.membersOf(instance.tags[GROUP]).find(({ uid }) => !carried.has(uid));
        if (bare) violated(`${instance.id} was started for a group of claim ${bare.name}, which has no finalizer`);
        if (instance.tags[GROUP] !== undefined) return;
        if (!carried.has(instance.tags[CLAIM_UID] ?? ""))
          violated(`${instance.id} was started for claim ${instance.tags[CLAIM_NAME]}, which has no finalizer`);
      },
    };
  },
};

/** How long an offering without capacity is not tried again, ms: less what two clocks may differ. */
const MARKED_MS = 180_000;
/** Calls in progress, ms. */
const CALLS_MS = 4_000;

interface Asked {
  readonly at: number;
  readonly token: string;
  readonly failed: readonly string[];
}

export const exhaustedLeftAlone: Invariant = {
  name: "exhausted offerings left alone",
  law: "A claim does not ask EC2 again within three minutes for what EC2 has just told it to be out of.",
  watch: ({ lab, history, faults }, violated) => {
    const published = new Map<string, Asked>();
    const key = (capacityType: string, type: string, zone: string): string => `${capacityType} ${type} in ${zone}`;
    const isLost = (answeredAt: number): boolean =>
      faults.hits.some(({ at, fn, what }) => at === answeredAt && fn === "lifecycle" && /effect done|kill after/.test(what));
    return {
      onResult: ({ port, method, args }, result) => {
        if (port !== "fleet" || method !== "launch") return;
        const [request] = args as [NonNullable<NodeClaimRecord["launch"]>];
        const { errors } = result as {
          readonly errors: readonly { readonly code: string; readonly instanceType?: string; readonly zone?: string }[];
        };
        // The attempts of a group differ in the number at the end.
        const uid = request.tags[CLAIM_UID] ?? request.tags[GROUP]?.replace(/\d+$/, "") ?? "";
        const now = lab.world.clock.now();
        const before = published.get(uid);
        const asked = request.launchTemplates.flatMap(({ overrides }) =>
          overrides.map((o) => key(request.capacityType, o.instanceType, o.zone)),
        );
        const again =
          before &&
          before.at > faults.tableLostAt() &&
          !isLost(before.at) &&
          before.token !== request.clientToken &&
          now - before.at < MARKED_MS - CALLS_MS - history.skewMs &&
          asked.find((o) => before.failed.includes(o));
        if (again)
          violated(
            `${request.tags[CLAIM_NAME] ?? uid} asks for ${again} again, ${Math.round((now - before.at) / 1_000)} s after EC2 had none`,
          );
        const failed = errors
          .filter(({ code }) => code === "InsufficientInstanceCapacity")
          .map((e) => key(request.capacityType, e.instanceType ?? "", e.zone ?? ""));
        if (before?.token === request.clientToken) return;
        const told = { at: now, token: request.clientToken, failed };
        for (const one of [uid, ...history.membersOf(request.tags[GROUP]).map((life) => life.uid)]) published.set(one, told);
      },
    };
  },
};
