import type { Mutation } from "../mutation.ts";

const ENTRY = ["test/functions/shared/cluster-entry.test.ts"];
const LEASE = ["test/functions/shared/lease.test.ts"];
const STORE = ["test/contracts/node-claim-store/sqlite.test.ts"];

/** Rules that keep the clusters of one stack, and the holders of one cluster's lease, apart. */
export const MUTATIONS: readonly Mutation[] = [
  {
    name: "sweep-in-one-run",
    rule: "the scheduled invocation of several clusters sweeps none itself",
    file: "functions/shared/cluster-entry.ts",
    from: "if (clusters.length > 1) await handOut();",
    to: "if (clusters.length > 1_000) await handOut();",
    tests: ENTRY,
  },
  {
    name: "sweep-by-message-alone",
    rule: "the stack's only cluster is swept without a message",
    file: "functions/shared/cluster-entry.ts",
    from: "if (clusters.length > 1) await handOut();",
    to: "if (clusters.length > 0) await handOut();",
    tests: ENTRY,
  },
  {
    name: "failed-sweep-returns",
    rule: "a sweep that fails does not return to the queue",
    file: "functions/shared/cluster-entry.ts",
    from: "if (isSweep(wakeUp)) await",
    to: "if (isSweep(wakeUp)) await inTime(() => inCluster(cluster, onSweep, invocation), context, deps.later); else if (isSweep(wakeUp)) await",
    tests: ENTRY,
  },
  {
    name: "hung-cluster-kills-all",
    rule: "a cluster that does not end is given up before the function's timeout",
    file: "functions/shared/in-time.ts",
    from: "const leftMs = context.getRemainingTimeInMillis() - REPORTING_MS;",
    to: "const leftMs = context.getRemainingTimeInMillis() + REPORTING_MS;",
    tests: ENTRY,
  },
  {
    name: "groups-in-turn",
    rule: "the groups of a FIFO batch do not wait for each other",
    file: "functions/adapters/batch.ts",
    from: "Map.groupBy(event.Records, ({ attributes }) => attributes.MessageGroupId)",
    to: 'Map.groupBy(event.Records, () => "all")',
    tests: ENTRY,
  },
  {
    name: "lease-not-renewed",
    rule: "a lease is renewed while its holder works",
    file: "functions/shared/lease.ts",
    from: "let cancel = later(RENEW_AFTER_MS, keep);",
    to: "let cancel = later(RENEW_AFTER_MS, () => {});",
    tests: LEASE,
  },
  {
    name: "lease-renewed-once",
    rule: "a lease is renewed as often as its holder needs it",
    file: "functions/shared/lease.ts",
    from: "if (!isOver && !isLost && now() < lastRenewal) cancel",
    to: "if (isOver) cancel",
    tests: LEASE,
  },
  {
    name: "lease-renewed-for-ever",
    rule: "a holder that hangs loses its lease",
    file: "functions/shared/lease.ts",
    from: "MAX_RENEWED_MS = 120_000",
    to: "MAX_RENEWED_MS = 1e9",
    tests: LEASE,
  },
  {
    name: "lost-lease-writes",
    rule: "a holder that lost its lease writes nothing more",
    file: "functions/shared/lease.ts",
    from: "if (!isLost && now() >= expiresAt) await renew();",
    to: "",
    tests: LEASE,
  },
  {
    name: "lease-of-another-renewed",
    rule: "only the holder of the present token renews a lease",
    file: "functions/adapters/store/sqlite-store.ts",
    from: "if (!isHeld(lease)) return undefined;",
    to: "",
    tests: STORE,
  },
  {
    name: "decisions-in-one-batch",
    rule: "a function that computes gets no batch of several clusters",
    file: "infra/functions.ts",
    from: "computes && clusters > 1 ? 1",
    to: "computes && clusters > 1_000 ? 1",
    tests: ["test/infra/stack.test.ts"],
  },
  {
    name: "notices-of-hung-cluster",
    rule: "a cluster that hangs does not have the notices of the others killed",
    file: "functions/interruption/entry.ts",
    from: "deps), context, deps.later);",
    to: "deps), undefined, deps.later);",
    tests: ["test/functions/interruption/interrupt.test.ts"],
  },
];
