import type { NodeClaim } from "#core/model/node-claim.ts";
import { deadlineOf, instanceIdOf, is, isAlive, isDaemon, isDisrupted, isHeld } from "./facts.ts";
import type { Invariant, Sight } from "./invariant.ts";

const MINUTE_MS = 60_000;
/** Extra time for retries, sweeps and periods of faults on top of each limit of the product, ms. */
const RECOVERY_MS = 20 * MINUTE_MS;

const ageOf = (claim: NodeClaim, now: number): number => now - Date.parse(claim.metadata.creationTimestamp ?? "");

/** Calls `late` for each object that has been in a state for longer than `limitMs`. */
function timed(limitMs: number, inState: (sight: Sight) => ReadonlyMap<string, string>, late: (what: string, minutes: number) => void) {
  const since = new Map<string, number>();
  return (sight: Sight): void => {
    const now = inState(sight);
    for (const key of since.keys()) if (!now.has(key)) since.delete(key);
    for (const [key, what] of now) {
      const start = since.get(key) ?? sight.now;
      since.set(key, start);
      if (sight.now - start > limitMs) late(what, Math.round((sight.now - start) / MINUTE_MS));
    }
  };
}

export const launchesEnd: Invariant = {
  name: "launches end",
  law: "A claim that does not launch within 5 minutes, or does not register within 15, ends.",
  watch: (_scene, violated) => ({
    check: ({ claims, now }) => {
      for (const claim of claims) {
        if (claim.metadata.deletionTimestamp !== undefined || is(claim, "Registered")) continue;
        const minutes = ageOf(claim, now) / MINUTE_MS;
        if (minutes > (is(claim, "Launched") ? 15 : 5) + RECOVERY_MS / MINUTE_MS)
          violated(`claim ${claim.metadata.name} has not come up for ${Math.round(minutes)} minutes and stays`);
      }
    },
  }),
};

/** NodeClaims that are being deleted and whose nodes run no pod that a drain would have to wait for. */
function freeToGo({ claims, nodes, pods, now }: Sight): ReadonlyMap<string, string> {
  return new Map(
    claims.flatMap((claim) => {
      if (claim.metadata.deletionTimestamp === undefined) return [];
      const node = nodes.find(({ spec }) => spec.providerID !== undefined && spec.providerID === claim.status?.providerID);
      const deadline = deadlineOf(claim);
      const waits = pods.some(
        (pod) =>
          pod.spec.nodeName === node?.metadata.name && (!isDaemon(pod) || isHeld(pod, now)) && pod.metadata.deletionTimestamp === undefined,
      );
      const held = node !== undefined && is(node, "Ready") && waits && !(deadline !== undefined && now > deadline);
      return held ? [] : [[claim.metadata.uid ?? "", claim.metadata.name] as const];
    }),
  );
}

export const endingsEnd: Invariant = {
  name: "endings end",
  law: "A claim that is asked to go, and that nothing holds any more, goes.",
  watch: (_scene, violated) => ({
    check: timed(RECOVERY_MS, freeToGo, (claim, minutes) =>
      violated(`claim ${claim} is going for ${minutes} minutes although nothing holds it`),
    ),
  }),
};

export const deadlinesHold: Invariant = {
  name: "deadlines hold",
  law: "A claim with a terminationGracePeriod has gone soon after it is over.",
  watch: (_scene, violated) => ({
    check: ({ claims, now }) => {
      for (const claim of claims) {
        const deadline = deadlineOf(claim);
        if (deadline !== undefined && now > deadline + RECOVERY_MS)
          violated(`claim ${claim.metadata.name} is there ${Math.round((now - deadline) / MINUTE_MS)} minutes after its deadline`);
      }
    },
  }),
};

/** Longest wait for a replacement: one hour (core/disruption/command/advance-command.ts), and then the rollback, ms. */
const COMMAND_MS = 60 * MINUTE_MS + RECOVERY_MS;

export const commandsEnd: Invariant = {
  name: "commands end",
  law: "No disruption command stays for longer than replacements are waited for.",
  watch: (_scene, violated) => ({
    check: ({ commands, now }) => {
      for (const { id, createdAt, phase } of commands)
        if (now - createdAt > COMMAND_MS) violated(`command ${id} is ${phase} for ${Math.round((now - createdAt) / MINUTE_MS)} minutes`);
    },
  }),
};

export const destinationsStay: Invariant = {
  name: "destinations stay",
  law: "No command disrupts a node that another command in flight moves pods to.",
  watch: ({ keepsDestinations }, violated) => ({
    check: ({ commands }) => {
      const executing = keepsDestinations ? commands.filter(({ phase }) => phase === "Replacing" || phase === "Deleting") : [];
      for (const { id, destinations = {}, replacementClaims } of executing) {
        const countedOn = new Set([...Object.values(destinations), ...replacementClaims]);
        for (const other of executing) {
          const taken = other.candidates.filter(({ nodeClaim }) => countedOn.has(nodeClaim)).map(({ nodeClaim }) => nodeClaim);
          if (taken.length > 0) violated(`command ${other.id} disrupts ${taken.join(", ")}, and command ${id} moves pods there`);
        }
      }
    },
  }),
};

export const taintsHaveReason: Invariant = {
  name: "taints have a reason",
  law: "No node keeps the disrupted taint when neither a command nor its own end explains it.",
  watch: (_scene, violated) => ({
    check: timed(
      RECOVERY_MS,
      ({ nodes, commands, claims }) => {
        const meant = new Set(commands.flatMap(({ candidates }) => candidates.map(({ node }) => node)));
        const going = new Set(claims.flatMap(({ metadata, status }) => (metadata.deletionTimestamp ? [status?.providerID] : [])));
        const left = nodes.filter(
          (n) =>
            isDisrupted(n) && n.metadata.deletionTimestamp === undefined && !meant.has(n.metadata.name) && !going.has(n.spec.providerID),
        );
        return new Map(left.map(({ metadata }) => [metadata.uid ?? "", metadata.name]));
      },
      (node, minutes) => violated(`node ${node} carries the disrupted taint for ${minutes} minutes and no command has it`),
    ),
  }),
};

export const ghostsEnd: Invariant = {
  name: "ghosts end",
  law: "A registered claim whose machine has ended is asked to go.",
  watch: (_scene, violated) => ({
    check: timed(
      RECOVERY_MS,
      ({ claims, machines }) => {
        const alive = new Set(machines.filter(isAlive).map(({ instance }) => instance.id));
        const ghosts = claims.filter(
          (c) => c.metadata.deletionTimestamp === undefined && is(c, "Registered") && !alive.has(instanceIdOf(c.status?.providerID) ?? ""),
        );
        return new Map(ghosts.map(({ metadata }) => [metadata.uid ?? "", metadata.name]));
      },
      (claim, minutes) => violated(`claim ${claim} stays ${minutes} minutes after its machine has ended`),
    ),
  }),
};
