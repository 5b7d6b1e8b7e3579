import type { Fault } from "../fault.ts";

const ENTRY = ["test/functions/shared/cluster-entry.test.ts"];
const LEASE = ["test/functions/shared/lease.test.ts"];
const STORE = ["test/contracts/node-claim-store/embedded.test.ts"];

/** Rules that keep the clusters of one stack, and the holders of one cluster's lease, apart. */
export const FAULTS: readonly Fault[] = [
  {
    name: "sweep-in-one-run",
    rule: "the scheduled invocation of several clusters sweeps none itself",
    edits: [
      {
        file: "functions/shared/cluster-entry.ts",
        find: "if (clusters.length > 1) await handOut(clusters);",
        replace: "if (clusters.length > 1_000) await handOut(clusters);",
      },
    ],
    foundBy: "unit",
    within: ENTRY,
  },
  {
    name: "sweep-by-message-alone",
    rule: "the stack's only cluster is swept without a message",
    edits: [
      {
        file: "functions/shared/cluster-entry.ts",
        find: "if (clusters.length > 1) await handOut(clusters);",
        replace: "if (clusters.length > 0) await handOut(clusters);",
      },
    ],
    foundBy: "unit",
    within: ENTRY,
  },
  {
    name: "failed-sweep-returns",
    rule: "a sweep that fails does not return to the queue",
    edits: [
      {
        file: "functions/shared/cluster-entry.ts",
        find: "if (isSweep(wakeUp) && wakeUp.kind === sweepOf(cluster).kind) await",
        replace:
          "if (isSweep(wakeUp)) await inTime(() => inCluster(cluster, onSweep, invocation), context, deps.later); else if (isSweep(wakeUp)) await",
      },
    ],
    foundBy: "unit",
    within: ENTRY,
  },
  {
    name: "sweeps-at-once",
    rule: "the sweeps of a stack's clusters are spread over their period",
    edits: [
      {
        file: "functions/shared/cluster-entry.ts",
        find: "const sweeps = spread(clusters.map(sweepOf));",
        replace: "const sweeps = clusters.map(sweepOf);",
      },
    ],
    foundBy: "unit",
    within: ENTRY,
  },
  {
    name: "failed-plan-stays",
    rule: "a plan that fails keeps no later wake-up of its cluster waiting",
    edits: [
      {
        file: "functions/shared/cluster-entry.ts",
        find: "if (attempt >= ATTEMPTS_IN_ORDER || !(await isSentAgain(wakeUp))) throw error;",
        replace: "if (attempt > 0) throw error;",
      },
    ],
    foundBy: "unit",
    within: ENTRY,
  },
  {
    name: "failed-sweep-waits",
    rule: "a sweep that fails is tried again in its minute",
    edits: [
      {
        file: "functions/shared/cluster-entry.ts",
        find: "attemptOf(wakeUp) < SWEEP_ATTEMPTS &&",
        replace: "attemptOf(wakeUp) < 1 &&",
      },
    ],
    foundBy: "unit",
    within: ENTRY,
  },
  {
    name: "sweep-of-another-function",
    rule: "a sweep of provision in the lifecycle's queue is passed on",
    edits: [
      {
        file: "functions/shared/cluster-entry.ts",
        find: "if (isSweep(wakeUp) && wakeUp.kind === sweepOf(cluster).kind) await",
        replace: "if (isSweep(wakeUp)) await",
      },
    ],
    foundBy: "unit",
    within: ENTRY,
  },
  {
    name: "hung-cluster-kills-all",
    rule: "a cluster that does not end is given up before the function's timeout",
    edits: [
      {
        file: "functions/shared/in-time.ts",
        find: "const leftMs = context.getRemainingTimeInMillis() - REPORTING_MS;",
        replace: "const leftMs = context.getRemainingTimeInMillis() + REPORTING_MS;",
      },
    ],
    foundBy: "unit",
    within: ENTRY,
  },
  {
    name: "groups-in-turn",
    rule: "the groups of a FIFO batch do not wait for each other",
    edits: [
      {
        file: "adapters/lambda/batch.ts",
        find: "Map.groupBy(event.Records, ({ attributes }) => attributes.MessageGroupId)",
        replace: 'Map.groupBy(event.Records, () => "all")',
      },
    ],
    foundBy: "unit",
    within: ENTRY,
  },
  {
    name: "lease-not-renewed",
    rule: "a lease is renewed while its holder works",
    edits: [
      {
        file: "functions/shared/lease.ts",
        find: "let cancel = later(RENEW_AFTER_MS, keep);",
        replace: "let cancel = later(RENEW_AFTER_MS, () => {});",
      },
    ],
    foundBy: "unit",
    within: LEASE,
  },
  {
    name: "lease-renewed-once",
    rule: "a lease is renewed as often as its holder needs it",
    edits: [
      { file: "functions/shared/lease.ts", find: "if (!isOver && !isLost && now() < lastRenewal) cancel", replace: "if (isOver) cancel" },
    ],
    foundBy: "unit",
    within: LEASE,
  },
  {
    name: "lease-renewed-for-ever",
    rule: "a holder that hangs loses its lease",
    edits: [{ file: "functions/shared/lease.ts", find: "MAX_RENEWED_MS = 120_000", replace: "MAX_RENEWED_MS = 1e9" }],
    foundBy: "unit",
    within: LEASE,
  },
  {
    name: "lost-lease-writes",
    rule: "a holder that lost its lease writes nothing more",
    edits: [{ file: "functions/shared/lease.ts", find: "if (!isLost && now() >= expiresAt) await renew();", replace: "" }],
    foundBy: "unit",
    within: LEASE,
  },
  {
    name: "lease-of-another-renewed",
    rule: "only the holder of the present token renews a lease",
    edits: [
      {
        file: "adapters/store/leases.ts",
        find: "by, if: isHeld(lease) })).isWritten;",
        replace: 'by, if: { absent: "nothing" } })).isWritten;',
      },
    ],
    foundBy: "unit",
    within: STORE,
  },
  {
    name: "decisions-in-one-batch",
    rule: "a function that computes gets no batch of several clusters",
    edits: [{ file: "infra/functions.ts", find: "computes && clusters > 1 ? 1", replace: "computes && clusters > 1_000 ? 1" }],
    foundBy: "unit",
    within: ["test/infra/stack.test.ts"],
  },
  {
    name: "notices-of-hung-cluster",
    rule: "a cluster that hangs does not have the notices of the others killed",
    edits: [{ file: "functions/interruption/entry.ts", find: "deps), context, deps.later);", replace: "deps), undefined, deps.later);" }],
    foundBy: "unit",
    within: ["test/functions/interruption/interrupt.test.ts"],
  },
  {
    name: "a lease that a killed holder keeps for hours",
    rule: "the lease of a killed holder ends after 30 s",
    edits: [{ file: "functions/shared/lease.ts", find: "const LEASE_TTL_MS = 30_000;", replace: "const LEASE_TTL_MS = 300 * 60_000;" }],
    foundBy: "simulation",
    within: 20,
  },
  {
    name: "a cluster that does not answer ends the sweep of those behind it",
    rule: "a cluster that does not answer delays no other cluster",
    edits: [
      {
        file: "functions/shared/cluster-entry.ts",
        find: "if (clusters.length > 1) await handOut(clusters);",
        replace: "if (clusters.length > 1) for (const cluster of [...clusters].reverse()) await sweep(sweepOf(cluster), context);",
      },
      {
        file: "functions/shared/cluster-entry.ts",
        find: 'log.error("the scheduled pass failed;',
        replace: 'throw error;\n    log.error("the scheduled pass failed;',
      },
    ],
    foundBy: "simulation",
    within: 60,
  },
];
