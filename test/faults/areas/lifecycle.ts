import type { Fault } from "../fault.ts";

const ADVANCE = ["test/core/lifecycle/advance.test.ts"];
const TERMINATION = ["test/core/lifecycle/termination.test.ts"];
const GARBAGE = ["test/core/lifecycle/garbage-collection.test.ts"];
const HOLD = ["test/core/lifecycle/hold.test.ts"];
const RECONCILE = ["test/functions/lifecycle/reconcile.test.ts"];
const STORIES = ["test/lab/lifecycle-stories.test.ts"];
const FOREIGN = ["test/hostile/foreign-instances.test.ts"];
const IMPOSTERS = ["test/hostile/imposter-nodes.test.ts"];

/** Rules of a NodeClaim's life: launch, registration, drain, the end of its machine, and what is garbage. */
export const FAULTS: readonly Fault[] = [
  {
    name: "launch-backoff-forgets",
    rule: "each further try of a NodePool whose machines are bought for nothing waits twice as long",
    edits: [
      {
        file: "core/node-pool/launch-backoff.ts",
        find: "now - last.failedAt < FORGOTTEN_MS ? last.tries + 1 : 1;",
        replace: "now - last.failedAt < FIRST_WAIT_MS ? last.tries + 1 : 1;",
      },
    ],
    foundBy: "unit",
    within: ["test/core/node-pool/launch-backoff.test.ts"],
  },
  {
    name: "launch-backoff-one-machine",
    rule: "one machine of several that never registers holds up no other",
    edits: [
      {
        file: "core/node-pool/launch-backoff.ts",
        find: "return hasRegistered ? withoutBackoff(pool) : pool;",
        replace: "return hasRegistered ? pool : pool;",
      },
    ],
    foundBy: "unit",
    within: ["test/core/node-pool/launch-backoff.test.ts"],
  },
  {
    name: "relink",
    rule: "a NodeClaim that was restored under another UID keeps its record and its instance",
    edits: [
      {
        file: "core/lifecycle/advance.ts",
        find: "(record.uid ?? record.instance) !== undefined) return relink(record, claim);",
        replace: "(record.uid ?? record.instance) === undefined) return relink(record, claim);",
      },
    ],
    foundBy: "unit",
    within: ADVANCE,
  },
  {
    name: "adopt-own-late",
    rule: "a NodeClaim of ours without a record is adopted only when EC2 must list what was launched for it",
    edits: [
      {
        file: "core/lifecycle/advance.ts",
        find: "if (isOwn && now - fromRfc3339(claim.metadata.creationTimestamp) < LAUNCH_UNLISTED_MS) return { actions: [] };",
        replace: "",
      },
    ],
    foundBy: "unit",
    within: ADVANCE,
  },
  {
    name: "creation-timeout",
    rule: "a NodeClaim that could not be created in a quarter of an hour is given up",
    edits: [
      {
        file: "core/lifecycle/launch.ts",
        find: "if (record.instance === undefined && now - record.createdAt > UNTRIED_TIMEOUT_MS) {",
        replace: "if (record.instance === undefined && now - record.createdAt > 9 * UNTRIED_TIMEOUT_MS) {",
      },
    ],
    foundBy: "unit",
    within: ADVANCE,
  },
  {
    name: "late-turn-gives-up",
    rule: "a NodeClaim whose turn comes late is launched, and not given up",
    edits: [
      {
        file: "core/lifecycle/time-limits.ts",
        find: "return failedAt - since > LAUNCH_TIMEOUT_MS || now - since > UNTRIED_TIMEOUT_MS;",
        replace: "return failedAt - since > LAUNCH_TIMEOUT_MS || now - since > LAUNCH_TIMEOUT_MS;",
      },
    ],
    foundBy: "unit",
    within: ADVANCE,
  },
  {
    name: "late-turn-ends-machine",
    rule: "a NodeClaim that its group has an instance for takes it, however late",
    edits: [{ file: "core/lifecycle/time-limits.ts", find: "if (group && instanceFor(group, record.name)) return false;", replace: "" }],
    foundBy: "unit",
    within: [...ADVANCE, "test/core/launch-group/step.test.ts"],
  },
  {
    name: "late-launch-late-node",
    rule: "a launch that was late leaves its node no less time to register",
    edits: [
      {
        file: "core/lifecycle/time-limits.ts",
        find: "Math.max(createdAt + REGISTRATION_TIMEOUT_MS, launchedAt + REGISTRATION_TIMEOUT_MS - LAUNCH_TIMEOUT_MS)",
        replace: "createdAt + REGISTRATION_TIMEOUT_MS + 0 * launchedAt",
      },
    ],
    foundBy: "unit",
    within: ADVANCE,
  },
  {
    name: "launch-retry",
    rule: "a launch that failed is repeated after ten seconds, not at once",
    edits: [{ file: "core/lifecycle/launch.ts", find: "if (view.now < retryAt) return { actions: [], wakeAt: retryAt };", replace: "" }],
    foundBy: "unit",
    within: ADVANCE,
  },
  {
    name: "planner-woken-at-timeout",
    rule: "the planner is woken when a NodeClaim is given up, because its pods change no more",
    edits: [
      {
        file: "core/lifecycle/mark-terminating.ts",
        find: "return { ...step, actions: [log, registration, ...failed, ...step.actions, ...wakePlanner(record, reason)] };",
        replace: "return { ...step, actions: [log, registration, ...failed, ...step.actions] };",
      },
    ],
    foundBy: "unit",
    within: ADVANCE,
  },
  {
    name: "finalizer-with-marks",
    rule: "a NodeClaim that has lost the finalizer gets it before anything is launched",
    edits: [
      {
        file: "core/lifecycle/advance.ts",
        find: "if (finalizers?.includes(TERMINATION_FINALIZER) && isMarked) return undefined;",
        replace: "if (isMarked) return undefined;",
      },
    ],
    foundBy: "unit",
    within: ADVANCE,
  },
  {
    name: "registration-timeout-with-node",
    rule: "the registration time-out counts also while nodes with a wrong name are there",
    edits: [
      {
        file: "core/lifecycle/joining.ts",
        find: "if (!isReady && isRegistrationGivenUp(",
        replace: "if (own.length === 0 && nodes.length === 0 && isRegistrationGivenUp(",
      },
    ],
    foundBy: "unit",
    within: [...ADVANCE, ...IMPOSTERS],
  },
  {
    name: "node-deleted-before-initialization",
    rule: "a NodeClaim whose node is deleted before it is initialized ends",
    edits: [
      {
        file: "core/lifecycle/joining.ts",
        find: 'if (node.metadata.deletionTimestamp !== undefined) return markTerminating(view, record, "deleted", { detail: NODE_DELETED });',
        replace: "",
      },
    ],
    foundBy: "unit",
    within: ADVANCE,
  },
  {
    name: "node-deleted",
    rule: "a NodeClaim whose node is deleted ends",
    edits: [
      {
        file: "core/lifecycle/advance.ts",
        find: "if (view.nodes.some(({ metadata }) => metadata.deletionTimestamp !== undefined))",
        replace: 'if (view.nodes.some(({ metadata }) => metadata.name === ""))',
      },
    ],
    foundBy: "unit",
    within: ADVANCE,
  },
  {
    name: "initialization-order",
    rule: "a requested resource that is not registered keeps a node from being initialized",
    edits: [{ file: "core/lifecycle/initialization.ts", find: "if (resource) return", replace: 'if (resource === "") return' }],
    foundBy: "unit",
    within: ADVANCE,
  },
  {
    name: "drained-for-five-seconds",
    rule: "a drain lasts five seconds at least, so that a pod bound just before the taint is seen",
    edits: [
      {
        file: "core/lifecycle/drain-node.ts",
        find: "if (view.now - since < MIN_DRAIN_MS) return",
        replace: "if (view.now < since) return",
      },
    ],
    foundBy: "unit",
    within: TERMINATION,
  },
  {
    name: "volumes-until-deadline",
    rule: "detaching volumes is waited for until the deadline, not longer",
    edits: [
      { file: "core/lifecycle/drain-node.ts", find: "if (view.now >= deadline) {", replace: "if (view.now >= deadline + 3_600_000) {" },
    ],
    foundBy: "unit",
    within: TERMINATION,
  },
  {
    name: "lost-launch",
    rule: "an instance whose launch lost its answer is searched for before the NodeClaim goes",
    edits: [
      {
        file: "core/lifecycle/termination.ts",
        find: "if (view.now - sentAtLatest > MAX_LOST_LAUNCH_MS) return undefined;",
        replace: "if (view.now >= sentAtLatest) return undefined;",
      },
    ],
    foundBy: "unit",
    within: TERMINATION,
  },
  {
    name: "launch-in-flight",
    rule: "the search begins anew when the NodeClaim is told to end, because a launch may be on its way",
    edits: [
      {
        file: "core/lifecycle/termination.ts",
        find: "Math.max(launchRequestedAt, launchUnknownAt, record.terminating?.at ?? 0)",
        replace: "Math.max(launchRequestedAt, launchUnknownAt, 0)",
      },
    ],
    foundBy: "unit",
    within: TERMINATION,
  },
  {
    name: "not-found-is-no-proof",
    rule: "an instance that EC2 does not find in the first minute is not taken for gone",
    edits: [
      {
        file: "core/lifecycle/instance-state.ts",
        find: 'if (instance === "gone") return now - launchedAt > LAUNCH_UNSEEN_MS;',
        replace: 'if (instance === "gone") return true;',
      },
    ],
    foundBy: "unit",
    within: TERMINATION,
  },
  {
    name: "shutting-down-asked-once",
    rule: "an instance that shuts down is not terminated again and again",
    edits: [
      {
        file: "core/lifecycle/termination.ts",
        find: 'if (view.instance !== "gone" && view.instance.state === "shutting-down") return { actions: condition, ...wait };',
        replace: "",
      },
    ],
    foundBy: "unit",
    within: TERMINATION,
  },
  {
    name: "out-of-load-balancers",
    rule: "a node that is drained is taken out of load balancers",
    edits: [
      {
        file: "core/lifecycle/drain-node.ts",
        find: 'labels: { ...metadata.labels, [EXCLUDE_BALANCERS]: "karpenter" } } };',
        replace: "labels: { ...metadata.labels } } };",
      },
    ],
    foundBy: "unit",
    within: TERMINATION,
  },
  {
    name: "budget-free-at-end",
    rule: "the end of a NodeClaim wakes disruption, whose budget is free again",
    edits: [
      {
        file: "core/lifecycle/termination.ts",
        find: '{ type: "Wake", wakeUp: { kind: "disruption", cluster, cause: "NodesRemoved", delayMs: SETTLE_MS } },',
        replace: "",
      },
    ],
    foundBy: "unit",
    within: TERMINATION,
  },
  {
    name: "foreign-adopted",
    rule: "the tags of an adopted instance are compared before anything is drained",
    edits: [
      {
        file: "core/lifecycle/termination.ts",
        find: 'return record.reason === "adopted" && !isDraining ? { actions: [], ask: "instance" } : undefined;',
        replace: "return undefined;",
      },
    ],
    foundBy: "unit",
    within: FOREIGN,
  },
  {
    name: "evicted-by-groups",
    rule: "critical pods are evicted after the others",
    edits: [
      {
        file: "core/lifecycle/drain.ts",
        find: "return waiting.filter((pod) => groupOf(pod) === first);",
        replace: "return waiting.filter((pod) => groupOf(pod) >= first);",
      },
    ],
    foundBy: "unit",
    within: TERMINATION,
  },
  {
    name: "grace-period-waited-for",
    rule: "a drain whose pods all end is reconciled when the last grace period is over, not before",
    edits: [
      {
        file: "core/lifecycle/drain.ts",
        find: "const until = toEvict > 0 ? now + retryMs : end > now ? end : Number.POSITIVE_INFINITY;",
        replace: "const until = now + retryMs;",
      },
    ],
    foundBy: "unit",
    within: TERMINATION,
  },
  {
    name: "evictions-bounded",
    rule: "one pass evicts fifty pods at most",
    edits: [
      { file: "core/lifecycle/drain.ts", find: ".slice(0, MAX_EVICTIONS_PER_PASS)", replace: ".slice(0, 9 * MAX_EVICTIONS_PER_PASS)" },
    ],
    foundBy: "unit",
    within: TERMINATION,
  },
  {
    name: "forced-with-grace",
    rule: "a deadline deletes a pod so early that it has its whole grace period",
    edits: [
      {
        file: "core/lifecycle/drain.ts",
        find: "return deadline - (pod.spec.terminationGracePeriodSeconds ?? 30) * 1_000;",
        replace: "return deadline - 0 * (pod.spec.terminationGracePeriodSeconds ?? 30);",
      },
    ],
    foundBy: "unit",
    within: TERMINATION,
  },
  {
    name: "replacement-waited-for",
    rule: "after a spot notice pods stay until their replacement is initialized",
    edits: [
      {
        file: "core/lifecycle/drain.ts",
        find: "return ready || view.now >= end ? undefined : end;",
        replace: "return ready || view.now >= 0 ? undefined : end;",
      },
    ],
    foundBy: "unit",
    within: TERMINATION,
  },
  {
    name: "orphans-young",
    rule: "an instance of less than five minutes is no garbage",
    edits: [{ file: "core/lifecycle/garbage-collection.ts", find: "now - instance.launchedAt > MIN_ORPHAN_AGE_MS &&", replace: "" }],
    foundBy: "unit",
    within: GARBAGE,
  },
  {
    name: "unlisted-young",
    rule: "a NodeClaim whose node has registered stays while EC2 need not list its launch yet",
    edits: [
      {
        file: "core/lifecycle/garbage-collection.ts",
        find: "found === undefined && now - launchedAt < LAUNCH_UNLISTED_MS",
        replace: "false",
      },
    ],
    foundBy: "unit",
    within: GARBAGE,
  },
  {
    name: "accident",
    rule: "when more than half of the NodeClaims vanish at once, their instances are held",
    edits: [{ file: "core/lifecycle/garbage-collection.ts", find: "lost.length * 2 > all", replace: "lost.length > all" }],
    foundBy: "unit",
    within: GARBAGE,
  },
  {
    name: "unreadable-owned",
    rule: "the instance of a record that cannot be read is no garbage",
    edits: [{ file: "core/lifecycle/garbage-collection.ts", find: 'unreadable?.has(tags[NODE_CLAIM_TAG] ?? "") ||', replace: "" }],
    foundBy: "unit",
    within: [...GARBAGE, "test/hostile/records.test.ts"],
  },
  {
    name: "group-owned",
    rule: "an instance of a group is no garbage while a member of the group has none",
    edits: [{ file: "core/lifecycle/garbage-collection.ts", find: "groups.has(group) ||", replace: "" }],
    foundBy: "unit",
    within: GARBAGE,
  },
  {
    name: "joined-schema",
    rule: "older code cannot read the record of a NodeClaim that has joined a launch of several",
    edits: [{ file: "core/launch-group/member.ts", find: "schema: GROUP_SCHEMA", replace: "schema: RECORD_SCHEMA" }],
    foundBy: "unit",
    within: ["test/core/launch-group/step.test.ts"],
  },
  {
    name: "ending-member-leaves",
    rule: "a member that ends leaves a group that has sent nothing",
    edits: [
      {
        file: "core/launch-group/step.ts",
        find: '? { type: "Leave", group } : undefined;',
        replace: "? undefined : undefined;",
      },
    ],
    foundBy: "unit",
    within: ["test/core/launch-group/step.test.ts"],
  },
  {
    name: "unlisted-since-last-call",
    rule: "EC2 need not list what the last call of a request has launched, however old the request is",
    edits: [
      {
        file: "core/launch/attempt.ts",
        find: "now - Math.max(requestedAt, unknownAt) >=",
        replace: "now - Math.max(requestedAt, 0 * unknownAt) >=",
      },
    ],
    foundBy: "unit",
    within: ["test/core/launch-group/step.test.ts"],
  },
  {
    name: "ready-node-no-ghost",
    rule: "a NodeClaim whose node is Ready is not ended because EC2 does not list its instance",
    edits: [
      {
        file: "core/lifecycle/garbage-collection.ts",
        find: "!alive.has(instance.id) && !ready.has(instance.id),",
        replace: "!alive.has(instance.id),",
      },
    ],
    foundBy: "unit",
    within: GARBAGE,
  },
  {
    name: "young-machine-unknown",
    rule: "a NodeClaim that has not registered is not ended because EC2 does not know its instance yet",
    edits: [
      {
        file: "core/lifecycle/garbage-collection.ts",
        find: 'return found === undefined ? undefined : "instance_terminated";',
        replace: 'return "instance_terminated";',
      },
    ],
    foundBy: "unit",
    within: GARBAGE,
  },
  {
    name: "stopped-machine-has-no-pods",
    rule: "a machine that somebody stopped is not drained: none of its pods runs",
    edits: [
      {
        file: "core/lifecycle/drain-node.ts",
        find: "isGone(view, record) || isStopped(view)) return",
        replace: "isGone(view, record)) return",
      },
    ],
    foundBy: "unit",
    within: ["test/core/lifecycle/termination.test.ts"],
  },
  {
    name: "stopped-machine-ends",
    rule: "a NodeClaim whose machine somebody stopped ends",
    edits: [
      { file: "core/lifecycle/garbage-collection.ts", find: 'state === "stopping" || state === "stopped"', replace: 'state === "stopped"' },
    ],
    foundBy: "unit",
    within: GARBAGE,
  },
  {
    name: "held-at-most",
    rule: "a node that joined waits twenty seconds at most for the others of its plan",
    edits: [
      {
        file: "core/lifecycle/hold.ts",
        find: "Math.min(readySince(node) + MAX_WAIT_FOR_OTHERS_MS, joinedAt(node) + MAX_HOLD_MS)\n      : now",
        replace: "joinedAt(node) + 60_000\n      : now",
      },
    ],
    foundBy: "unit",
    within: HOLD,
  },
  {
    name: "refused-launch-searched",
    rule: "before a refused launch is rendered anew, EC2 is asked whether an earlier call has succeeded",
    edits: [
      {
        file: "functions/lifecycle/launch/launch.ts",
        find: 'const instance = await launchedInstance(deps.fleet, deps.cluster.name, claim.metadata.uid ?? "");',
        replace: 'const instance = undefined as NodeClaimRecord["instance"];',
      },
    ],
    foundBy: "unit",
    within: STORIES,
  },
  {
    name: "latest-wake-up",
    rule: "a look puts the next one off by a wake-up of its own",
    edits: [
      {
        file: "functions/lifecycle/schedule.ts",
        find: "wakeUps.wake([wakeUpAt({ wakeAt, dueAt }, name, deps)]);",
        replace: "wakeUps.wake([wakeUpAt({ wakeAt: deps.now(), dueAt }, name, deps)]);",
      },
    ],
    foundBy: "unit",
    within: RECONCILE,
  },
  {
    name: "polls that multiply",
    rule: "a wait that is written again ends its earlier polls",
    edits: [{ file: "functions/lifecycle/schedule.ts", find: "? record.dueAt + 1 : wakeAt", replace: "? wakeAt : wakeAt" }],
    foundBy: "unit",
    within: ["test/functions/lifecycle/schedule.test.ts"],
  },
  {
    name: "an end that the history does not tell",
    rule: "the history has an entry for the end of each NodeClaim",
    edits: [{ file: "core/lifecycle/termination.ts", find: `record, history: removedEntries(record, view.now) }`, replace: "record }" }],
    foundBy: "simulation",
    within: 10,
  },
  {
    name: "a node is labelled initialized before its record names it",
    rule: "the record names the node before the node is labelled initialized",
    edits: [{ file: "core/lifecycle/joining.ts", find: "if (isReadyAlready && !isNamed) return nameIt;", replace: "" }],
    foundBy: "simulation",
    within: 40,
  },
  {
    name: "finalizer missing: claims are launched without it",
    rule: "a NodeClaim has its finalizer before it is launched",
    edits: [
      {
        file: "functions/lifecycle/claims.ts",
        find: "finalizers: withFinalizer(metadata.finalizers),",
        replace: "finalizers: metadata.finalizers ?? [],",
      },
      { file: "core/lifecycle/advance.ts", find: "finalizers?.includes(TERMINATION_FINALIZER) && ", replace: "" },
    ],
    foundBy: "simulation",
    within: 20,
  },
  {
    name: "finalizer taken off before the machine is terminated",
    rule: "the finalizer stays until the machine is terminated",
    edits: [
      {
        file: "core/lifecycle/termination.ts",
        find: "if (stopping) return stopping;",
        replace: "if (stopping && claim === undefined) return stopping;",
      },
    ],
    foundBy: "simulation",
    within: 20,
  },
  {
    name: "machine terminated, finalizer left on",
    rule: "the finalizer goes once the machine is terminated",
    edits: [
      {
        file: "core/lifecycle/termination.ts",
        find: "if (claim !== undefined && !isDoneWith(claim)) return freeClaim(view, claim, record);",
        replace: "",
      },
    ],
    foundBy: "simulation",
    within: 20,
  },
  {
    name: "machine terminated before the drain",
    rule: "a machine is terminated only after its node is drained",
    edits: [
      {
        file: "core/lifecycle/termination.ts",
        find: "if (draining.step !== undefined) return draining.step;",
        replace: "if (draining.step !== undefined && record.instance === undefined) return draining.step;",
      },
    ],
    foundBy: "simulation",
    within: 20,
  },
  {
    name: "taint after drain",
    rule: "a node is tainted before its pods are evicted",
    edits: [
      {
        file: "core/lifecycle/drain-node.ts",
        find: "const tainted = takenOut(node);",
        replace: "const tainted = view.pods?.length === 0 ? takenOut(node) : undefined;",
      },
    ],
    foundBy: "simulation",
    within: 20,
  },
  {
    name: "budgets of pods ignored: delete instead of evict",
    rule: "a drain evicts pods, so that PodDisruptionBudgets hold",
    edits: [
      {
        file: "functions/lifecycle/nodes.ts",
        find: "const outcome = await deps.kubernetes.evict(pod);",
        replace:
          'await deps.kubernetes.delete("Pod", pod.metadata.name, { namespace: pod.metadata.namespace ?? "default" });\n  const outcome: string = "evicted";',
      },
    ],
    foundBy: "simulation",
    within: 20,
  },
  {
    name: "do-not-disrupt ignored by the drain",
    rule: "a drain waits for pods with do-not-disrupt",
    edits: [
      {
        file: "core/pods/predicates.ts",
        find: "!toleratesDisrupted(pod) && !isMirror(pod) && doNotDisruptUntil(pod, now) === undefined",
        replace: "!toleratesDisrupted(pod) && !isMirror(pod) && now > 0",
      },
    ],
    foundBy: "simulation",
    within: 60,
  },
  {
    name: "acknowledgement before work: a notice that fails is not tried again",
    rule: "a notice that cannot be served stays in the queue",
    edits: [
      {
        file: "functions/interruption/entry.ts",
        find: "interrupt(body, accountOf(eventSourceARN), deps)",
        replace: "interrupt(body, accountOf(eventSourceARN), deps).catch(() => {})",
      },
    ],
    foundBy: "simulation",
    within: 150,
  },
  {
    name: "garbage collection without grace",
    rule: "a young instance, or one that a launch awaits, is not garbage",
    edits: [
      {
        file: "core/lifecycle/garbage-collection.ts",
        find: "const MIN_ORPHAN_AGE_MS = 5 * 60_000;",
        replace: "const MIN_ORPHAN_AGE_MS = -1;",
      },
      { file: "core/lifecycle/garbage-collection.ts", find: "&& !isAwaited(instance)", replace: "&& isAwaited !== undefined" },
    ],
    foundBy: "simulation",
    within: 60,
  },
  {
    name: "wake-up not re-armed, and no sweep behind it",
    rule: "a NodeClaim that is due is reconciled, by a wake-up or by the sweep",
    edits: [
      {
        file: "functions/lifecycle/schedule.ts",
        find: "wakeUps.wake([wakeUpAt({ wakeAt, dueAt }, name, deps)]);",
        replace: "wakeUps.wake([wakeUpAt({ wakeAt, dueAt }, name, deps)].slice(1));",
      },
      {
        file: "functions/lifecycle/sweep.ts",
        find: "record.dueAt <= now() - LATE_MS",
        replace: "record.dueAt < 0 * LATE_MS",
      },
    ],
    foundBy: "simulation",
    within: 20,
  },
  {
    name: "interrupted pods held for 300 s instead of 75",
    rule: "pods of an interrupted node wait for their replacement for 75 s at most",
    edits: [
      {
        file: "core/lifecycle/drain.ts",
        find: "const MAX_REPLACEMENT_WAIT_MS = 75_000;",
        replace: "const MAX_REPLACEMENT_WAIT_MS = 300_000;",
      },
    ],
    foundBy: "simulation",
    within: 80,
  },
  {
    name: "spot notice that does not mark its offering",
    rule: "a spot notice marks its offering unavailable",
    edits: [
      {
        file: "functions/shared/interrupt-claim.ts",
        find: "if (soldOut === undefined || instance === undefined) return;",
        replace: 'if (soldOut !== "reserved" || instance === undefined) return;',
      },
    ],
    foundBy: "simulation",
    within: 40,
  },
  {
    name: "expiry counted at a quarter of its time",
    rule: "a NodeClaim expires in the last tenth of expireAfter, not before",
    edits: [
      {
        file: "core/lifecycle/expiry.ts",
        find: "fromRfc3339(metadata.creationTimestamp) + Math.floor(lifetime * (1 - early));",
        replace: "fromRfc3339(metadata.creationTimestamp) + Math.floor((lifetime / 4) * (1 - early));",
      },
    ],
    foundBy: "simulation",
    within: 40,
  },
  {
    name: "registration given up after one minute",
    rule: "a node has 15 minutes to register",
    edits: [
      {
        file: "core/lifecycle/time-limits.ts",
        find: "export const REGISTRATION_TIMEOUT_MS = 15 * 60_000;",
        replace: "export const REGISTRATION_TIMEOUT_MS = 60_000;",
      },
    ],
    foundBy: "simulation",
    within: 40,
  },
  {
    name: "startup taints not waited for",
    rule: "a node is not initialized while it has startup taints",
    edits: [
      { file: "core/lifecycle/initialization.ts", find: "if (startup) return {", replace: "if (startup && claim === undefined) return {" },
    ],
    foundBy: "simulation",
    within: 40,
  },
  {
    name: "startup taints taken off at registration",
    rule: "registration removes only the unregistered taint",
    edits: [
      {
        file: "core/lifecycle/registration.ts",
        find: "taints: synced.filter(({ key, effect }) => key !== UNREGISTERED_TAINT.key || effect !== UNREGISTERED_TAINT.effect),",
        replace: "taints: synced.slice(0, 0),",
      },
    ],
    foundBy: "simulation",
    within: 40,
  },
  {
    name: "garbage collection that trusts a partial list",
    rule: "an instance that a partial list lacks is read by its id before its node is removed",
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
    foundBy: "simulation",
    within: 60,
  },
  {
    name: "interrupted NodeClaims ended by force, past the budgets of their pods",
    rule: "an interrupted NodeClaim is drained within the budgets of its pods",
    edits: [
      {
        file: "functions/shared/interrupt-claim.ts",
        find: 'const deadline = action === "ForcefulTermination" ? now() : undefined;',
        replace: "const deadline = now();",
      },
    ],
    foundBy: "simulation",
    within: 60,
  },
  {
    name: "spot notice that marks its offering and ends nothing",
    rule: "a spot notice drains its node",
    edits: [
      {
        file: "core/interruption/consequence.ts",
        find: 'spot_interrupted: {\n    action: "CordonAndDrain",',
        replace: 'spot_interrupted: {\n    action: "NoAction",',
      },
    ],
    foundBy: "simulation",
    within: 40,
  },
  {
    name: "broken hardware tolerated for one minute",
    rule: "AcceleratedHardwareReady=False is tolerated for 10 minutes",
    edits: [
      {
        file: "core/repair/policies.ts",
        find: "KNOWN_GPU_FAULT = { tolerationMs: 10 * MINUTE_MS,",
        replace: "KNOWN_GPU_FAULT = { tolerationMs: MINUTE_MS,",
      },
    ],
    foundBy: "simulation",
    within: 60,
  },
  {
    name: "nodes expire after 21 minutes instead of 720 hours",
    rule: "expireAfter is not cut short",
    edits: [
      {
        file: "core/lifecycle/expiry.ts",
        find: "fromRfc3339(metadata.creationTimestamp) + Math.floor(lifetime * (1 - early));",
        replace: "fromRfc3339(metadata.creationTimestamp) + Math.min(lifetime, 21 * 60_000);",
      },
    ],
    foundBy: "simulation",
    within: 40,
  },
  {
    name: "nodes never expire",
    rule: "a NodeClaim expires after expireAfter, not later",
    edits: [
      {
        file: "core/lifecycle/advance.ts",
        find: "if (expiresAt !== undefined && view.now >= expiresAt) return",
        replace: "if (expiresAt === -1) return",
      },
    ],
    foundBy: "simulation",
    within: 60,
  },
  {
    name: "NodeClaims whose record is lost not adopted",
    rule: "a NodeClaim whose record is lost gets one again",
    edits: [
      {
        file: "functions/lifecycle/sweep.ts",
        find: "if (record === undefined) return !isDoneWith(claim) && (isDeleted || !isLaunchedByOther(claim));",
        replace: "if (record === undefined) return !isDoneWith(claim) && isDeleted;",
      },
    ],
    foundBy: "simulation",
    within: 100,
  },
  {
    name: "instances whose record is lost taken for garbage",
    rule: "an instance that a NodeClaim names is not garbage",
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
    foundBy: "simulation",
    within: 150,
  },
  {
    name: "broken nodes replaced however many are broken",
    rule: "repair stops where more than a fifth of the nodes are unhealthy",
    edits: [
      {
        file: "core/repair/health.ts",
        find: "const MAX_UNHEALTHY_SHARE = 0.2;",
        replace: "const MAX_UNHEALTHY_SHARE = 1;",
      },
    ],
    foundBy: "simulation",
    within: 150,
  },
  {
    name: "held nodes never opened",
    rule: "a held node is opened when its time is over",
    edits: [
      {
        file: "core/lifecycle/hold.ts",
        find: "return now < until ? until : undefined;",
        replace: "return now > 0 ? until + 9e6 : undefined;",
      },
    ],
    foundBy: "simulation",
    within: 60,
  },
];
