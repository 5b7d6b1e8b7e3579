import type { Group } from "./program.ts";

/** The bench that runs when none is named. */
export const PLANS = "plans";

/** Every program of `npm run bench`. Benches print times and ratios; no test asserts a time. */
export const BENCHES: readonly Group[] = [
  {
    title: "How fast is it?",
    programs: [
      {
        name: PLANS,
        answers:
          "solve times, memory, price and gap to a lower bound, 10 to 50,000 pods; `--oracle` beside Karpenter's in the same run, `--shapes` for pods that are all different",
        file: "test/bench/main.ts",
        takes: "[FAMILY|FILE...] [--sizes N,...] [--runs N] [--oracle] [--shapes]",
        minutes: 5,
        needs: ["Go"],
      },
      {
        name: "optimum",
        answers: "how far plans are above the exact optimum (an integer program) of 200 drawn cases of 3 to 40 pods",
        file: "test/bench/optimum.ts",
        takes: "[--count N] [--from SEED] [--show SEED]",
        minutes: 1,
        needs: [],
      },
      {
        name: "consolidate",
        answers: "consolidation until no command follows, beside Karpenter's: $ per hour, pods moved, passes, times",
        file: "test/bench/consolidate.ts",
        takes: "[--oracle]",
        minutes: 30,
        needs: ["Go"],
      },
      {
        name: "preferences",
        answers: "nodes, $ and how far soft rules hold, by the lab's kube-scheduler and as planned, under each PREFERENCE_POLICY",
        file: "test/conformance/preferences.ts",
        minutes: 2,
        needs: [],
      },
      {
        name: "read",
        answers: "reads of a real API server with 1,000 nodes and 10,000 pods",
        file: "test/bench/cluster-read.ts",
        minutes: 10,
        needs: ["Go"],
      },
      {
        name: "catalogue",
        answers: "the cost of the catalogue in a cold start",
        file: "test/bench/catalogue-read.ts",
        minutes: 1,
        needs: [],
      },
      {
        name: "launch-groups",
        answers: "CreateFleet calls of a plan for pods of many sizes, and how long EC2's bucket makes the last one wait",
        file: "test/bench/launch-groups.ts",
        takes: "[PODS]",
        minutes: 1,
        needs: [],
      },
      {
        name: "storm",
        answers:
          "1,000 interruption notices in a minute, 5,000 NodeClaims: what each function reads, its time and its memory under Lambda's bound",
        file: "test/bench/storm.ts",
        minutes: 1,
        needs: [],
      },
      {
        name: "large-cluster",
        answers: "sweeps and a plan over that cluster, cold, warm and quiet: seconds, CPU, memory, requests, bytes, DynamoDB's units",
        file: "test/bench/large-cluster.ts",
        takes: "[--nodes 5000] [--pods 50000]",
        minutes: 5,
        needs: [],
      },
      {
        name: "large-cluster-on-server",
        answers:
          "the same against a real API server, by the functions' own adapters; `--keep FOLDER` keeps the filled server for the next run. 50,000 pods take it 12 GB",
        file: "test/bench/large-cluster-on-server.ts",
        takes: "[--nodes 5000] [--pods 50000] [--keep FOLDER]",
        minutes: 40,
        needs: ["Go"],
      },
      {
        name: "ec2-buckets",
        answers:
          "launches at once under EC2's buckets, in the lab: seconds, requests, throttled requests; with the shared pace, with each function by itself, with none",
        file: "test/bench/ec2-buckets.ts",
        takes: "[--nodes 2000] [--pace shared]",
        minutes: 10,
        needs: [],
      },
    ],
  },
];
