import { at, type Course } from "./course.ts";
import { apartFrom, beside, CLASS, FAMILY, GENERAL, HOSTNAME, isIn, ON_DEMAND, pool, SPOT, workload, ZONE } from "./objects.ts";

// Courses in which pods come: what is launched for them, and how soon they run.

const SHARE = "example.com/capacity-spread";
const grow = { name: "up", grows: true, still: true } as const;
const spreadApi = (replicas: number): object => workload("api", replicas, { cpu: "500m", spread: [{ key: ZONE, when: "DoNotSchedule" }] });

/** Pods that each need a host of their own, at once; so many seconds are played. */
const hosts = (count: number, seconds: number): Course => ({
  name: `hosts-${count}`,
  about: `${count.toLocaleString("en")} pods that each need a host of their own at once, under the request limits that EC2 documents`,
  limitsRequests: true,
  large: true,
  setting: [CLASS, pool("default")],
  acts: [{ ...grow, seconds, steps: [at(0, workload("agent", count, { cpu: "500m", hostPort: 8_080 }))] }],
});

export const GROWTH: readonly Course[] = [
  {
    name: "weights",
    about: "40 pods; pool heavy (weight 50, m5, at most 24 CPUs) before pool light (weight 1, c/m/r)",
    quick: true,
    setting: [
      CLASS,
      pool("heavy", { weight: 50, requirements: [ON_DEMAND, isIn(FAMILY, "m5")], limits: { cpu: "24" } }),
      pool("light", { weight: 1 }),
    ],
    acts: [{ ...grow, seconds: 60, steps: [at(0, workload("inflate", 40))] }],
  },
  {
    name: "custom-spread",
    about: "20 pods spread over a label of the pools: four parts spot to one part on demand; limits of CPU on both pools",
    quick: true,
    exception: {
      figures: ["cents"],
      reason: "its pods run 20 s sooner, so its machines, which cost less per hour, are paid for longer in this minute",
    },
    setting: [
      CLASS,
      pool("spot", { requirements: [SPOT, ...GENERAL, isIn(SHARE, "2", "3", "4", "5")], limits: { cpu: "64" } }),
      pool("on-demand", { requirements: [ON_DEMAND, ...GENERAL, isIn(SHARE, "1")], limits: { cpu: "32" } }),
    ],
    acts: [{ ...grow, seconds: 60, steps: [at(0, workload("shared", 20, { spread: [{ key: SHARE, when: "DoNotSchedule" }] }))] }],
  },
  {
    name: "affinity",
    about: "10 pods of web in one zone, 6 of cache on hosts of web",
    setting: [CLASS, pool("default")],
    acts: [
      {
        ...grow,
        seconds: 60,
        steps: [
          at(
            0,
            workload("web", 10, { affinity: beside("web", ZONE) }),
            workload("cache", 6, { cpu: "500m", memory: "2Gi", affinity: beside("web", HOSTNAME) }),
          ),
        ],
      },
    ],
  },
  {
    name: "anti-affinity",
    about: "8 pods that each need a host without the others, 16 small pods beside them",
    setting: [CLASS, pool("default")],
    acts: [
      {
        ...grow,
        seconds: 60,
        steps: [
          at(0, workload("store", 8, { memory: "2Gi", affinity: apartFrom("store", HOSTNAME) }), workload("web", 16, { cpu: "250m" })),
        ],
      },
    ],
  },
  {
    name: "zone-spread",
    about: "12 pods that must be spread over the zones, then 24",
    setting: [CLASS, pool("default")],
    acts: [
      { ...grow, seconds: 45, steps: [at(0, spreadApi(12))] },
      { ...grow, name: "double", seconds: 45, steps: [at(0, spreadApi(24))] },
    ],
  },
  {
    name: "waves",
    about: "40 pods in four waves within 20 s, while the machines of the first wave boot",
    quick: true,
    exception: {
      figures: ["launched", "atRest", "usdPerHour", "cents"],
      reason:
        "each wave is bought at its cheapest: 10 pods cost $0.459 an hour where Karpenter pays $0.612, 30 pods $1.377 where it pays $1.530; the last ten happen to fit the room that it has left over",
    },
    setting: [CLASS, pool("default")],
    acts: [
      {
        ...grow,
        seconds: 75,
        steps: [10, 20, 30, 40].map((replicas, i) => at([0, 5, 10, 20][i] ?? 0, workload("inflate", replicas))),
      },
    ],
  },
  {
    name: "burst-300",
    about: "300 pods at once",
    setting: [CLASS, pool("default")],
    acts: [{ ...grow, seconds: 75, steps: [at(0, workload("inflate", 300))] }],
  },
  hosts(2_000, 600),
  hosts(500, 240),
  {
    name: "burst-1000",
    about: "1,000 pods of 250m at once",
    setting: [CLASS, pool("default")],
    acts: [{ ...grow, seconds: 120, steps: [at(0, workload("inflate", 1_000, { cpu: "250m", memory: "512Mi" }))] }],
  },
];
