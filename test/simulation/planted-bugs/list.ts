import type { Edit } from "../../support/patched-tree.ts";

/** A defect that the simulation must find, and within how many seeds from the first. */
export interface PlantedBug {
  readonly name: string;
  readonly within: number;
  readonly edits: readonly Edit[];
}

const SQLITE = "adapters/store/sqlite-store.ts";
const LAUNCH = "functions/lifecycle/launch/launch.ts";
const LAUNCH_GROUP = "functions/lifecycle/launch/launch-group.ts";
const PERFORM = "functions/lifecycle/perform.ts";
const INTERRUPT = "functions/shared/interrupt-claim.ts";
const ADVANCE = "core/lifecycle/advance.ts";
const ADVANCE_COMMAND = "core/disruption/command/advance-command.ts";
const TERMINATION = "core/lifecycle/termination.ts";

/** Each bug removes one rule of the design, as a careless change might. */
export const PLANTED_BUGS: readonly PlantedBug[] = [
  {
    name: "an end that the history does not tell",
    within: 10,
    edits: [{ file: TERMINATION, find: `record, history: removedEntries(record, view.now) }`, replace: "record }" }],
  },
  {
    name: "a launch that the history does not tell",
    within: 10,
    edits: [
      {
        file: LAUNCH,
        find: "const stored = await deps.store.update(launched, launchedEntries(launched, deps.now()));",
        replace: "const stored = await deps.store.update(launched, launchedEntries(launched, deps.now()).slice(0, 0));",
      },
    ],
  },
  {
    name: "NodeClaims given up at the first launch that is to be tried again",
    within: 60,
    edits: [
      {
        file: ADVANCE,
        find: "const retryAt = record.launchFailedAt === undefined ? 0 : record.launchFailedAt + LAUNCH_RETRY_MS;",
        replace:
          'if (record.launchFailedAt !== undefined) return markTerminating(view, record, "launch_timeout");\n  const retryAt = 0 * LAUNCH_RETRY_MS;',
      },
    ],
  },
  {
    name: "NodeClaims given up by the clock alone",
    within: 40,
    edits: [
      {
        file: "core/lifecycle/time-limits.ts",
        find: "if (group && instanceFor(group, record.name)) return false;",
        replace: "if (now - launchableSince(record, group) > LAUNCH_TIMEOUT_MS) return true;",
      },
    ],
  },
  {
    name: "a node is labelled initialized before its record names it",
    within: 40,
    edits: [{ file: "core/lifecycle/joining.ts", find: "if (isReadyAlready && !isNamed) return nameIt;", replace: "" }],
  },
  {
    name: "missing client token: each CreateFleet is a new one",
    within: 40,
    edits: [{ file: LAUNCH, find: "deps.fleet.launch(request)", replace: "deps.fleet.launch({ ...request, clientToken: deps.newId() })" }],
  },
  {
    name: "each member sends the launch of its group under a token of its own",
    within: 300,
    edits: [
      {
        file: LAUNCH_GROUP,
        find: "deps.fleet.launch(launch.request)",
        replace: "deps.fleet.launch({ ...launch.request, clientToken: deps.newId() })",
      },
    ],
  },
  {
    name: "each member takes the first instance of its group",
    within: 40,
    edits: [
      { file: "core/launch/group-answer.ts", find: "const instance = sorted[i];", replace: "const instance = sorted[i] && sorted[0];" },
    ],
  },
  {
    name: "unconditional write: records are overwritten unseen",
    within: 60,
    edits: [
      {
        file: SQLITE,
        find: `if (sql.claim.get(record.cluster, record.name)?.["version"] !== record.version) {`,
        replace: "if (sql.claim.get(record.cluster, record.name) === undefined) {",
      },
    ],
  },
  {
    name: "lease not checked: a holder that has overslept writes all the same",
    within: 150,
    edits: [
      {
        file: SQLITE,
        find: `return held?.["holder"] === holder && held["token"] === token;`,
        replace: "return held !== undefined;",
      },
    ],
  },
  {
    name: "no intent before launch: EC2 is asked, then the request stored",
    within: 20,
    edits: [
      {
        file: LAUNCH,
        find: "  const stored = await deps.store.update({\n    ...rest,\n    uid,\n    launch: rendered.ok.request,",
        replace:
          "  await deps.fleet.launch(rendered.ok.request);\n  const stored = await deps.store.update({\n    ...rest,\n    uid,\n    launch: rendered.ok.request,",
      },
    ],
  },
  {
    name: "finalizer missing: claims are launched without it",
    within: 20,
    edits: [
      { file: PERFORM, find: "finalizers: withFinalizer(metadata.finalizers),", replace: "finalizers: metadata.finalizers ?? []," },
      { file: ADVANCE, find: "finalizers?.includes(TERMINATION_FINALIZER) && ", replace: "" },
    ],
  },
  {
    name: "finalizer taken off before the machine is terminated",
    within: 20,
    edits: [
      { file: TERMINATION, find: "if (stopping) return stopping;", replace: "if (stopping && claim === undefined) return stopping;" },
    ],
  },
  {
    name: "machine terminated, finalizer left on",
    within: 20,
    edits: [
      {
        file: TERMINATION,
        find: "if (claim !== undefined && !isDoneWith(claim)) return freeClaim(view, claim, record);",
        replace: "",
      },
    ],
  },
  {
    name: "machine terminated before the drain",
    within: 20,
    edits: [
      {
        file: TERMINATION,
        find: "if (draining.step !== undefined) return draining.step;",
        replace: "if (draining.step !== undefined && record.instance === undefined) return draining.step;",
      },
    ],
  },
  {
    name: "taint after drain",
    within: 20,
    edits: [
      {
        file: TERMINATION,
        find: "const tainted = takenOut(node);",
        replace: "const tainted = view.pods?.length === 0 ? takenOut(node) : undefined;",
      },
    ],
  },
  {
    name: "budgets of pods ignored: delete instead of evict",
    within: 20,
    edits: [
      {
        file: PERFORM,
        find: "const outcome = await deps.kubernetes.evict(pod);",
        replace:
          'await deps.kubernetes.delete("Pod", pod.metadata.name, { namespace: pod.metadata.namespace ?? "default" });\n  const outcome: string = "evicted";',
      },
    ],
  },
  {
    name: "do-not-disrupt ignored by the drain",
    within: 60,
    edits: [
      {
        file: "core/pods/predicates.ts",
        find: "!toleratesDisrupted(pod) && !isMirror(pod) && doNotDisruptUntil(pod, now) === undefined",
        replace: "!toleratesDisrupted(pod) && !isMirror(pod) && now > 0",
      },
    ],
  },
  {
    name: "acknowledgement before work: a notice that fails is not tried again",
    within: 150,
    edits: [
      {
        file: "functions/interruption/entry.ts",
        find: "interrupt(body, accountOf(eventSourceARN), deps)",
        replace: "interrupt(body, accountOf(eventSourceARN), deps).catch(() => {})",
      },
    ],
  },
  {
    name: "capacity that ran out is not marked",
    within: 20,
    edits: [
      { file: LAUNCH, find: "if (unavailable.length > 0) await deps.store.markUnavailable(deps.cluster.name, unavailable);", replace: "" },
    ],
  },
  {
    name: "garbage collection without grace",
    within: 60,
    edits: [
      {
        file: "core/lifecycle/garbage-collection.ts",
        find: "const MIN_ORPHAN_AGE_MS = 5 * 60_000;",
        replace: "const MIN_ORPHAN_AGE_MS = -1;",
      },
      { file: "core/lifecycle/garbage-collection.ts", find: "&& !isAwaited(instance)", replace: "&& isAwaited !== undefined" },
    ],
  },
  {
    name: "commands are not resumed once they are being carried out",
    within: 20,
    edits: [
      {
        file: "functions/disruption/disrupt.ts",
        find: "for (const command of state.commands) {",
        replace: 'for (const command of state.commands.filter(({ phase }) => phase === "Validating")) {',
      },
    ],
  },
  {
    name: "budget counted without the nodes that are under way",
    within: 60,
    edits: [
      {
        file: "core/disruption/cluster/budget.ts",
        find: `if (isLeaving || !isTrue(machine.node?.status?.conditions, "Ready")) add(disrupting, pool);`,
        replace: `if (isLeaving && !isTrue(machine.node?.status?.conditions, "Ready")) add(disrupting, pool);`,
      },
    ],
  },
  {
    name: "price caps without the machines that run",
    within: 60,
    edits: [
      {
        file: "core/scheduling/problem/price-caps.ts",
        find: "micros(cap) - (prices.get(pool.metadata.name) ?? 0)",
        replace: "micros(cap)",
      },
    ],
  },
  {
    name: "NodePools that sleep make nodes",
    within: 100,
    edits: [
      {
        file: "core/scheduling/problem/template.ts",
        find: "if (pool.metadata.deletionTimestamp || isAsleep(pool, now)) return false;",
        replace: "if (pool.metadata.deletionTimestamp) return false;",
      },
    ],
  },
  {
    name: "limits without the machines on their way",
    within: 150,
    edits: [
      {
        file: "core/scheduling/problem/template.ts",
        find: "if (view.nodePool === poolName && !view.markedForDeletion) subtract(view.capacity);",
        replace: "if (view.nodePool === poolName && !view.markedForDeletion && view.initialized) subtract(view.capacity);",
      },
    ],
  },
  {
    name: "nominated pods are not remembered",
    within: 160,
    edits: [
      {
        file: "adapters/kubernetes/snapshot.ts",
        find: "nominated: nominationsOf(records, now),",
        replace: "nominated: nominationsOf([], now),",
      },
    ],
  },
  {
    name: "wake-up not re-armed, and no sweep behind it",
    within: 20,
    edits: [
      {
        file: "functions/lifecycle/reconcile.ts",
        find: "let dueAt = at;\n  await wakeUps.wake([wakeUpAt(at, dueAt, name, deps)]);",
        replace: "let dueAt = at;",
      },
      {
        file: "functions/lifecycle/sweep.ts",
        find: "record.dueAt <= now() - LATE_MS",
        replace: "record.dueAt < 0 * LATE_MS",
      },
    ],
  },
  {
    name: "interrupted pods held for 300 s instead of 75",
    within: 80,
    edits: [
      {
        file: "core/lifecycle/drain.ts",
        find: "const MAX_REPLACEMENT_WAIT_MS = 75_000;",
        replace: "const MAX_REPLACEMENT_WAIT_MS = 300_000;",
      },
    ],
  },
  {
    name: "disruption command carried out without its second look",
    within: 40,
    edits: [
      {
        file: ADVANCE_COMMAND,
        find: "return validation.holds ? execute(context, validation) : abandon(context, validation.why);",
        replace: "return execute(context, validation as never);",
      },
      {
        file: ADVANCE_COMMAND,
        find: "const kept = candidates.map(commandCandidate).sort((a, b) => order(command, a.nodeClaim) - order(command, b.nodeClaim));",
        replace: "const kept = command.candidates;",
      },
    ],
  },
  {
    name: "spot notice that does not mark its offering",
    within: 40,
    edits: [
      {
        file: INTERRUPT,
        find: "if (soldOut !== undefined && record.instance) {",
        replace: 'if (soldOut === "reserved" && record.instance) {',
      },
    ],
  },
  {
    name: "candidates ended when the first of several replacements is up",
    within: 100,
    edits: [
      { file: ADVANCE_COMMAND, find: "if (waiting.length === 0)", replace: "if (waiting.length < command.replacementClaims.length)" },
    ],
  },
  {
    name: "a lease that a killed holder keeps for hours",
    within: 20,
    edits: [{ file: "functions/shared/lease.ts", find: "const LEASE_TTL_MS = 30_000;", replace: "const LEASE_TTL_MS = 300 * 60_000;" }],
  },
  {
    name: "expiry counted at a quarter of its time",
    within: 40,
    edits: [
      {
        file: ADVANCE,
        find: "fromRfc3339(claim.metadata.creationTimestamp) + lifetime;",
        replace: "fromRfc3339(claim.metadata.creationTimestamp) + lifetime / 4;",
      },
    ],
  },
  {
    name: "registration given up after one minute",
    within: 40,
    edits: [
      {
        file: "core/lifecycle/time-limits.ts",
        find: "export const REGISTRATION_TIMEOUT_MS = 15 * 60_000;",
        replace: "export const REGISTRATION_TIMEOUT_MS = 60_000;",
      },
    ],
  },
  {
    name: "startup taints not waited for",
    within: 40,
    edits: [
      { file: "core/lifecycle/initialization.ts", find: "if (startup) return {", replace: "if (startup && claim === undefined) return {" },
    ],
  },
  {
    name: "startup taints taken off at registration",
    within: 40,
    edits: [
      {
        file: "core/lifecycle/registration.ts",
        find: "taints: synced.filter(({ key, effect }) => key !== UNREGISTERED_TAINT.key || effect !== UNREGISTERED_TAINT.effect),",
        replace: "taints: synced.slice(0, 0),",
      },
    ],
  },
  {
    name: "garbage collection that trusts a partial list",
    within: 60,
    edits: [
      {
        file: "core/lifecycle/garbage-collection.ts",
        find: "!alive.has(instance.id) && !ready.has(instance.id),",
        replace: '!alive.has(instance.id) && !ready.has(""),',
      },
      {
        file: "core/lifecycle/garbage-collection.ts",
        find: "if (found !== undefined && isAlive(found)) return undefined;",
        replace: "if (found !== undefined && isAlive(found) && found.id === name) return undefined;",
      },
    ],
  },
  {
    name: "refused launch rendered anew, though an earlier call may have succeeded",
    within: 60,
    edits: [
      {
        file: LAUNCH,
        find: 'const instance = await launchedInstance(deps.fleet, deps.cluster.name, claim.metadata.uid ?? "");',
        replace: 'const instance = undefined as NodeClaimRecord["instance"];',
      },
      { file: LAUNCH, find: "isKnown ? rest : record,", replace: "isKnown ? rest : rest," },
    ],
  },
  {
    name: "interrupted NodeClaims ended by force, past the budgets of their pods",
    within: 60,
    edits: [
      {
        file: INTERRUPT,
        find: 'const deadline = action === "ForcefulTermination" ? now() : undefined;',
        replace: "const deadline = now();",
      },
    ],
  },
  {
    name: "spot notice that marks its offering and ends nothing",
    within: 40,
    edits: [
      {
        file: "core/interruption/consequence.ts",
        find: 'spot_interrupted: {\n    action: "CordonAndDrain",',
        replace: 'spot_interrupted: {\n    action: "NoAction",',
      },
    ],
  },
  {
    name: "instance of a notice not found in the table",
    within: 40,
    edits: [
      {
        file: SQLITE,
        find: "byInstance: async (instanceId) => {",
        replace: "byInstance: async (instanceId) => {\n      instanceId += instanceId;",
      },
    ],
  },
  {
    name: "command decided and carried out at once",
    within: 40,
    edits: [
      {
        file: "core/disruption/command/command.ts",
        find: 'dueAt: method === "drift" || method === "sleep" ? now : now + VALIDATION_DELAY_MS,',
        replace: "dueAt: now + 0 * VALIDATION_DELAY_MS,",
      },
    ],
  },
  {
    name: "do-not-disrupt ignored by disruption",
    within: 40,
    edits: [
      {
        file: "core/disruption/cluster/candidate.ts",
        find: "heldByPod: firstOf(POD_RULES, machine, view),",
        replace: "heldByPod: firstOf(POD_RULES.slice(0, 0), machine, view),",
      },
    ],
  },
  {
    name: "every node drifted",
    within: 20,
    edits: [{ file: "core/drift/detect.ts", find: "return a[hash] !== b[hash];", replace: "return a[hash] !== undefined;" }],
  },
  {
    name: "replacements not waited for",
    within: 20,
    edits: [
      {
        file: ADVANCE_COMMAND,
        find: "const waiting = command.replacementClaims.filter((name) => !isUp(view, name));",
        replace:
          "const waiting = command.replacementClaims.filter((name) => !isUp(view, name) && view.records.get(name)?.launchedAt === undefined);",
      },
    ],
  },
  {
    name: "budget spent anew by each command",
    within: 40,
    edits: [
      {
        file: "core/disruption/cluster/budget.ts",
        find: "allowed: Math.max(0, limit - leaving) });",
        replace: "allowed: limit });",
      },
    ],
  },
  {
    name: "pods that fit nowhere are told nothing",
    within: 20,
    edits: [{ file: "functions/provision/plan-events.ts", find: "[...inTurns(failures), ...inTurns(events)]", replace: "inTurns(events)" }],
  },
  {
    name: "batching window that never ends",
    within: 20,
    edits: [
      {
        file: "core/passes/batching-window.ts",
        find: "if (coming.length === 0 || (coming.length <= announced && now - plannedAt >= idleMs)) return 0;",
        replace:
          "if (pods.length > 1 || coming.length > 0) return idleMs + (now - now) + (announced - announced) + (plannedAt - plannedAt);",
      },
    ],
  },
  {
    name: "broken hardware tolerated for one minute",
    within: 60,
    edits: [
      {
        file: "core/repair/policies.ts",
        find: '{ condition: "AcceleratedHardwareReady", status: "False", tolerationMs: 10 * MINUTE_MS },',
        replace: '{ condition: "AcceleratedHardwareReady", status: "False", tolerationMs: MINUTE_MS },',
      },
    ],
  },
  {
    name: "virtual pods of buffers not planned for",
    within: 60,
    edits: [
      {
        file: "functions/shared/cluster-state.ts",
        find: "spread(headroom.flatMap((room) => room.pods)",
        replace: "spread(headroom.slice(0, 0).flatMap((room) => room.pods)",
      },
    ],
  },
  {
    name: "overlays read by nobody",
    within: 400,
    edits: [
      {
        file: "functions/shared/cluster-state.ts",
        find: 'settings.nodeOverlay ? kubernetes.list("NodeOverlay") : [],',
        replace: 'settings.nodeOverlay ? kubernetes.list("NodeOverlay", { labelSelector: "none=none" }) : [],',
      },
      {
        file: "functions/lifecycle/launch/view.ts",
        find: "if (!settings.nodeOverlay || pool === undefined) return own;",
        replace: "if (settings || pool === undefined) return own;",
      },
    ],
  },
  {
    name: "a cluster that does not answer ends the sweep of those behind it",
    within: 60,
    edits: [
      {
        file: "functions/shared/cluster-entry.ts",
        find: "if (clusters.length > 1) await handOut(clusters);",
        replace: "if (clusters.length > 1) for (const cluster of [...clusters].reverse()) await sweep(cluster, context);",
      },
      {
        file: "functions/shared/cluster-entry.ts",
        find: 'log.error("the scheduled pass failed;',
        replace: 'throw error;\n    log.error("the scheduled pass failed;',
      },
    ],
  },
  {
    name: "reservations that are full not marked",
    within: 100,
    edits: [
      {
        file: "core/launch/marks.ts",
        find: "else if (reservation !== undefined) mark(reservationMark(reservation.id, expiresAt));",
        replace: 'else if (reservation !== undefined) mark(reservationMark("none", expiresAt));',
      },
    ],
  },
  {
    name: "marks of offerings without capacity not read",
    within: 40,
    edits: [{ file: SQLITE, find: "sql.unavailable.all(cluster, now).map(", replace: "sql.unavailable.all(cluster, now * 2).map(" }],
  },
  {
    name: "nodes expire after 21 minutes instead of 720 hours",
    within: 40,
    edits: [
      {
        file: ADVANCE,
        find: "fromRfc3339(claim.metadata.creationTimestamp) + lifetime;",
        replace: "fromRfc3339(claim.metadata.creationTimestamp) + Math.min(lifetime, 21 * 60_000);",
      },
    ],
  },
  {
    name: "nodes never expire",
    within: 60,
    edits: [{ file: ADVANCE, find: "if (expiresAt !== undefined && view.now >= expiresAt) {", replace: "if (expiresAt === -1) {" }],
  },
  {
    name: "empty nodes stay",
    within: 60,
    edits: [
      {
        file: "core/disruption/methods/emptiness.ts",
        find: "const found = chosen.slice(0, MAX_EMPTY_NODES);",
        replace: "const found = chosen.slice(MAX_EMPTY_NODES);",
      },
    ],
  },
  {
    name: "drift not noticed",
    within: 60,
    edits: [{ file: "core/drift/detect.ts", find: "return a[hash] !== b[hash];", replace: "return a[hash] === undefined;" }],
  },
  {
    name: "NodeClaims whose record is lost not adopted",
    within: 100,
    edits: [
      {
        file: "functions/lifecycle/sweep.ts",
        find: "if (record === undefined) return !isDoneWith(claim) && (isDeleted || !isLaunchedByOther(claim));",
        replace: "if (record === undefined) return !isDoneWith(claim) && isDeleted;",
      },
    ],
  },
  {
    name: "instances whose record is lost taken for garbage",
    within: 150,
    edits: [
      {
        file: "core/lifecycle/garbage-collection.ts",
        find: "...claims.flatMap(({ status }) => instanceIdOf(status?.providerID) ?? []),",
        replace: "...claims.slice(0, 0).flatMap(({ status }) => instanceIdOf(status?.providerID) ?? []),",
      },
      {
        file: "core/lifecycle/garbage-collection.ts",
        find: "lost.length >= MIN_ACCIDENT_LOSS && lost.length * 2 > all",
        replace: "lost.length >= MIN_ACCIDENT_LOSS && lost.length * 2 < 0 * all",
      },
    ],
  },
  {
    name: "broken nodes replaced however many are broken",
    within: 150,
    edits: [
      {
        file: "core/repair/plan.ts",
        find: "const MAX_UNHEALTHY_SHARE = 0.2;",
        replace: "const MAX_UNHEALTHY_SHARE = 1;",
      },
    ],
  },
  {
    name: "held nodes never opened",
    within: 60,
    edits: [
      {
        file: "core/lifecycle/hold.ts",
        find: "return now < until ? until : undefined;",
        replace: "return now > 0 ? until + 9e6 : undefined;",
      },
    ],
  },
  {
    name: "a static NodePool with one node too many",
    within: 60,
    edits: [
      {
        file: "core/static-capacity/plan.ts",
        find: "const desired = nodePool.spec.replicas ?? 0;",
        replace: "const desired = (nodePool.spec.replicas ?? 0) + 1;",
      },
    ],
  },
];
