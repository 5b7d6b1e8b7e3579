import { at, type Course } from "./course.ts";
import { CLASS, GENERAL, HOSTNAME, pool, SPOT, workload, ZONE } from "./objects.ts";

// Courses in which load goes, or pools and machines change: what stays, what it costs, how many pods are moved.

const grow = { name: "up", grows: true } as const;
const softly = workload("spread", 30, {
  cpu: "512m",
  memory: "512Mi",
  spread: [
    { key: HOSTNAME, when: "ScheduleAnyway" },
    { key: ZONE, when: "ScheduleAnyway" },
  ],
});
const SOFT_LIMITS = { cpu: "100", memory: "100Gi" };
const onSpot = (replicas: number): object => workload("worker", replicas, { spread: [{ key: ZONE, when: "DoNotSchedule" }] });

/** Web servers and batch pods in each sixth of a day, from midnight on. */
const DAY_PARTS = [
  { web: 6, batch: 6 },
  { web: 16, batch: 0 },
  { web: 60, batch: 0 },
  { web: 44, batch: 0 },
  { web: 24, batch: 0 },
  { web: 8, batch: 0 },
];
/** Karpenter looks every 10 s and validates for 15 s, so consolidation needs about 30 s without a change. */
const SECONDS_PER_PART = 40;
const DAY = DAY_PARTS.map(({ web, batch }, part) =>
  at(part * SECONDS_PER_PART, workload("web", web, { cpu: "500m" }), workload("batch", batch, { cpu: "2", memory: "4Gi" })),
);

export const CHANGE: readonly Course[] = [
  {
    name: "soft-spread",
    about: "30 pods that prefer to be spread over hosts and zones, limits of 100 CPUs and 100Gi; then the pool consolidates",
    setting: [CLASS, pool("default", { limits: SOFT_LIMITS })],
    acts: [
      { ...grow, still: true, seconds: 60, steps: [at(0, softly)] },
      { name: "consolidate", seconds: 75, steps: [at(0, pool("default", { limits: SOFT_LIMITS, consolidateAfter: "10s" }))] },
    ],
    exception: {
      figures: ["evicted", "launched", "atRest"],
      reason:
        "consolidation replaces a node by two that cost less together, which Karpenter's does not try: $0.715 an hour at rest where Karpenter stays at $0.765",
    },
  },
  {
    name: "consolidate-after",
    about: "24 pods, then 12; the pool's consolidateAfter changes from Never to 10 s when half of the pods are gone",
    setting: [CLASS, pool("default")],
    acts: [
      {
        ...grow,
        still: true,
        seconds: 45,
        steps: [at(0, workload("inflate", 24), workload("odd", 5, { cpu: "1500m" }))],
      },
      {
        name: "half",
        seconds: 75,
        steps: [at(0, workload("inflate", 12), workload("odd", 2, { cpu: "1500m" })), at(10, pool("default", { consolidateAfter: "10s" }))],
      },
    ],
  },
  {
    name: "spot-interruption",
    about: "12 pods on spot machines in all zones; then two machines get EC2's notice of two minutes",
    quick: true,
    setting: [CLASS, pool("default", { requirements: [SPOT, ...GENERAL] })],
    acts: [
      { ...grow, still: true, seconds: 45, steps: [at(0, onSpot(12))] },
      { name: "notice", seconds: 60, steps: [{ at: 0, interrupt: 2 }] },
    ],
  },
  {
    name: "to-zero",
    about: "20 pods, none, 20 again; empty machines are removed after 5 s",
    setting: [CLASS, pool("default", { policy: "WhenEmpty", consolidateAfter: "5s" })],
    acts: [
      { ...grow, seconds: 40, steps: [at(0, workload("inflate", 20))] },
      { name: "zero", seconds: 50, steps: [at(0, workload("inflate", 0))] },
      { ...grow, name: "again", seconds: 40, steps: [at(0, workload("inflate", 20))] },
    ],
  },
  {
    name: "rolling-update",
    about: "15 pods; a new release replaces them a quarter at a time; the pool consolidates after 15 s",
    setting: [CLASS, pool("default", { consolidateAfter: "15s" })],
    acts: [
      { ...grow, seconds: 35, steps: [at(0, workload("app", 15, { release: "1" }))] },
      { name: "update", seconds: 80, steps: [at(0, workload("app", 15, { release: "2" }))] },
    ],
  },
  {
    name: "day",
    about: `a day of load, four hours in ${SECONDS_PER_PART} s: 6 to 60 web servers, batch pods at night; the pool consolidates after 5 s`,
    setting: [CLASS, pool("default", { consolidateAfter: "5s" })],
    acts: [{ name: "day", seconds: DAY_PARTS.length * SECONDS_PER_PART, steps: DAY }],
    exception: {
      figures: ["launched", "atRest", "evicted", "waited"],
      reason: "consolidation follows the load further down, to smaller machines each time: the course costs a fifth to a quarter less",
    },
  },
];
