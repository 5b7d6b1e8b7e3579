import type { Random } from "#lab/world/random.ts";
import type { SimulatedReservation } from "#lab/world/reservations.ts";
import type { ApiObject } from "#manifests/api-object.ts";
import { CAP, SLEEP } from "../invariants/facts.ts";
import type { Features, ScriptEvent } from "../script.ts";
import { drawOdd } from "./odd-objects.ts";
import { chance, type DrawnWorld } from "./world.ts";

interface Special {
  readonly objects: readonly ApiObject[];
  readonly features: Features;
  readonly events: readonly ScriptEvent[];
}

/** Probability of each kind in a run: a hundred runs play each kind some ten times, and few runs play several. */
const SHARE = 0.12;

type Gates = NonNullable<Features["gates"]>;
interface Addition {
  readonly gates?: Gates;
  readonly features?: Features;
  readonly added?: readonly ApiObject[];
  readonly change?: (object: ApiObject) => ApiObject;
  readonly events?: readonly ScriptEvent[];
}
type Draw = (random: Random, anytime: () => number, world: DrawnWorld) => Addition;

const nodeRepair: Draw = (random, anytime) => ({
  gates: { nodeRepair: true },
  events: Array.from({ length: random.between(4, 8) }, () => ({
    at: anytime(),
    what: "break hardware" as const,
    pick: random.next(),
    minutes: random.pick<number | undefined>([undefined, undefined, undefined, 5, 12]),
  })),
});

const staticPool: Draw = (random, anytime, { objects }) => {
  const like = objects.find(({ kind }) => kind === "NodePool") ?? NO_OBJECT;
  const { limits: _, weight: __, ...spec } = like.spec as Readonly<Record<string, unknown>>;
  return {
    gates: { staticCapacity: true },
    added: [{ ...like, metadata: { name: "fixed" }, spec: { ...spec, replicas: random.between(0, 3) } }],
    events: [1, 2, 3, 4].map(() => ({ at: anytime(), what: "edit pool", pool: "fixed", spec: { replicas: random.between(0, 3) } })),
  };
};
const NO_OBJECT: ApiObject = { apiVersion: "", kind: "", metadata: { name: "" }, spec: {} };

/** Each type of another family is cheaper than what this is added to. */
export const DEAR = "+900%";

const overlays: Draw = (random, anytime) => {
  const family = random.pick(["c5", "m5"]);
  const object: ApiObject = {
    apiVersion: "karpenter.sh/v1alpha1",
    kind: "NodeOverlay",
    metadata: { name: "prices" },
    spec: {
      requirements: [{ key: "karpenter.k8s.aws/instance-family", operator: "In", values: [family] }],
      priceAdjustment: random.pick(["+10%", "-30%", DEAR, DEAR]),
    },
  };
  const at = anytime();
  return {
    gates: { nodeOverlay: true },
    events: [
      { at, what: "apply", object },
      { at: at + random.between(60, 1_200), what: "delete", kind: "NodeOverlay", name: "prices" },
    ],
  };
};

const buffers: Draw = (random, anytime) => {
  const cpu = random.pick(["500m", "1", "2"]);
  const room = { spec: { containers: [{ name: "main", image: "pause", resources: { requests: { cpu, memory: "256Mi" } } }] } };
  const buffer = (replicas: number): ApiObject => ({
    apiVersion: "autoscaling.x-k8s.io/v1beta1",
    kind: "CapacityBuffer",
    metadata: { name: "spare", namespace: "default" },
    spec: { podTemplateRef: { name: "room" }, replicas },
  });
  return {
    gates: { capacityBuffer: true },
    added: [{ apiVersion: "v1", kind: "PodTemplate", metadata: { name: "room", namespace: "default" }, template: room }],
    events: [
      { at: anytime(), what: "apply", object: buffer(random.between(1, 3)) },
      { at: anytime(), what: "apply", object: buffer(random.between(0, 3)) },
    ],
  };
};

const spotToSpot: Draw = () => ({ gates: { spotToSpotConsolidation: true } });

const reservations: Draw = (random, anytime) => {
  const reservation: SimulatedReservation = {
    ...{ id: "cr-1", zone: "us-west-2a", instanceType: random.pick(["m5.large", "m5.xlarge", "c5.xlarge"]), ownerID: "111122223333" },
    ...{ instanceMatchCriteria: "targeted", reservationType: "default", interruptible: false, instances: random.between(1, 3) },
  };
  return {
    features: { reservations: [reservation] },
    events: [0, 2, 0].map((left) => ({ at: anytime(), what: "others reserve", left })),
    change: (object) => {
      if (object.kind === "EC2NodeClass") return withSpec(object, { capacityReservationSelectorTerms: [{ id: "cr-1" }] });
      return object.kind === "NodePool" ? withReserved(object) : object;
    },
  };
};

const withSpec = (object: ApiObject, more: object): ApiObject => ({ ...object, spec: { ...(object.spec as object), ...more } });

/** The NodePool, which may use reservations beside what it uses already. */
function withReserved(pool: ApiObject): ApiObject {
  const spec = pool.spec as {
    readonly template: { readonly spec: { readonly requirements: readonly { readonly values?: readonly string[] }[] } };
  };
  const requirements = spec.template.spec.requirements.map((one) => ({ ...one, values: ["reserved", ...(one.values ?? [])] }));
  return withSpec(pool, { template: { ...spec.template, spec: { ...spec.template.spec, requirements } } });
}

const batches: Draw = () => ({ features: { batches: true } });

const neighbour: Draw = (random, anytime) => ({
  features: { neighbour: true },
  events: Array.from({ length: random.between(2, 6) }, () => ({ at: anytime(), what: "ring neighbour" as const })),
});

const second: Draw = (random, anytime) => ({
  features: { second: true },
  events: Array.from({ length: random.between(3, 6) }, () => ({
    at: anytime(),
    what: "scale second" as const,
    replicas: random.between(0, 6),
  })),
});

const lateIndex: Draw = (random, anytime) => ({
  events: [1, 2].map(() => ({
    at: anytime(),
    what: "late index",
    ms: random.pick([2_000, 20_000, 60_000]),
    minutes: random.pick([5, 15]),
  })),
});

const fullAccount: Draw = (random, anytime) => ({
  events: [{ at: anytime(), what: "full account", rate: random.pick([0.3, 0.6, 1]), minutes: random.pick([1, 3, 6]) }],
});

/** Buckets as EC2 has them, and another tool of the account that uses one of them up now and then. */
const ec2Buckets: Draw = (random, anytime) => ({
  features: { buckets: true },
  events: [1, 2].map(() => ({
    at: anytime(),
    what: "busy bucket",
    action: random.pick(["CreateFleet", "CreateFleet", "DescribeInstances", "TerminateInstances", "CreateLaunchTemplate"]),
    share: random.pick([0.3, 0.7, 0.95]),
    minutes: random.pick([1, 3, 6]),
  })),
});

const clocksOff: Draw = (random, anytime) => ({
  events: [1, 2].map(() => ({
    at: anytime(),
    what: "skew",
    fn: random.pick(["provision", "lifecycle", "disruption", "interruption"]),
    ms: random.pick([-30_000, -10_000, 10_000, 30_000]),
    minutes: random.pick([5, 20]),
  })),
});

const staleLists: Draw = (random, anytime) => ({
  events: [1, 2].map(() => ({
    at: anytime(),
    what: "stale lists",
    ms: random.pick([5_000, 20_000, 60_000]),
    minutes: random.pick([3, 10]),
  })),
});

const tableLost: Draw = (random, anytime) => ({
  events: [{ at: anytime(), what: "lose table", share: random.pick([0.3, 0.7, 1, 1]) }],
});

const twins: Draw = (random, anytime) => ({
  events: Array.from({ length: random.between(2, 5) }, () => ({
    at: anytime(),
    what: "twin node" as const,
    pick: random.next(),
    minutes: random.pick([1, 5, 10]),
  })),
});

const oddObjects: Draw = (random, anytime) => ({
  events: Array.from({ length: random.between(3, 8) }, (_, i) => drawOdd(i, random)).flatMap((objects): readonly ScriptEvent[] => {
    const at = anytime();
    const until = at + random.pick([120, 600, 1_200]);
    return objects.flatMap((object): readonly ScriptEvent[] => {
      const { kind = "", metadata } = object;
      const { name, namespace } = metadata;
      return [
        { at, what: "apply", object },
        { at: until, what: "delete", kind, name, ...(namespace !== undefined && { namespace }) },
      ];
    });
  }),
});

/** A burst of pods, each for a node of its own in one zone, some of it when EC2 has too few machines for all. */
const burst: Draw = (random, anytime) => {
  const name = "burst";
  const zone = random.pick(["us-west-2a", "us-west-2b"]);
  const scarce = (): ScriptEvent => ({
    at: anytime(),
    what: "outage",
    of: { zone, ...(random.pick([true, false]) && { instanceType: "c5.xlarge" }), left: random.between(1, 6) },
    minutes: random.pick([2, 5, 15]),
  });
  const scale = (replicas: number): ScriptEvent => ({ at: anytime(), what: "scale", workload: name, replicas });
  return {
    added: [deploymentOf(name, { cpu: "3", memory: "256Mi" }, { "topology.kubernetes.io/zone": zone })],
    events: [scarce(), scarce(), ...Array.from({ length: 4 }, () => scale(random.between(0, 12)))],
  };
};

/** The answer of a CreateFleet is lost, and the repeated one is refused: EC2 may have launched all the same. */
const lostThenRefused: Draw = (_random, anytime) => ({
  events: Array.from({ length: 6 }, anytime).flatMap((at): readonly ScriptEvent[] => {
    const launch = { at, what: "strike", how: "fail", fn: "lifecycle", port: "fleet", method: "launch", ms: 0 } as const;
    return [
      { ...launch, when: "after", skip: 0, failure: "server" },
      { ...launch, when: "before", skip: 1, failure: "refused" },
    ];
  }),
});

const deploymentOf = (name: string, requests: object, nodeSelector: object): ApiObject => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name, namespace: "default" },
  spec: {
    replicas: 0,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { terminationGracePeriodSeconds: 5, nodeSelector, containers: [{ name: "main", image: "pause", resources: { requests } }] },
    },
  },
});

/** Savings Plans of the account, which pay for some of the machines on demand. */
const commitments: Draw = (random) => {
  const family = random.pick([undefined, "m5", "c5"]);
  const of = family === undefined ? ({ kind: "any" } as const) : ({ kind: "family", family } as const);
  return { gates: { savingsPlans: [{ of, perHour: random.pick([0.1, 0.4, 2]) }] } };
};

const annotated =
  (key: string, value: string) =>
  (object: ApiObject): ApiObject =>
    object.kind === "NodePool"
      ? { ...object, metadata: { ...object.metadata, annotations: { ...object.metadata.annotations, [key]: value } } }
      : object;

const priceCap: Draw = (random) => ({ change: annotated(CAP, random.pick(["0.3", "0.6", "1.2"])) });

/** The run begins at midnight. */
const sleep: Draw = (random, anytime) => {
  const minute = Math.floor(anytime() / 60);
  const schedule = `${minute % 60} ${Math.floor(minute / 60)} * * * for ${random.pick([10, 13, 20])}m`;
  return { change: annotated(SLEEP, schedule) };
};

const KINDS = {
  ...{ nodeRepair, staticPool, overlays, buffers, spotToSpot, reservations, batches, neighbour, lateIndex, fullAccount },
  ...{ clocksOff, staleLists, tableLost, twins, oddObjects, second, burst, ec2Buckets, lostThenRefused },
  ...{ commitments, priceCap, sleep },
};

/** What only some stacks have: feature gates with their objects, a second cluster, batches, faults of AWS services. */
export function drawFeatures(world: DrawnWorld, minutes: number, random: Random): Special {
  const drawn = Object.entries(KINDS).flatMap(([name, draw]) => {
    // Each kind has a source of its own, so that a further kind leaves the others as they are.
    const own = random.fork(name);
    return chance(own, SHARE) ? [draw(own, () => own.between(60, Math.max(61, (minutes - 5) * 60)), world)] : [];
  });
  const gates = Object.assign({}, ...drawn.map((one) => one.gates)) as Gates;
  const changed = (object: ApiObject): ApiObject => drawn.reduce((so, { change }) => change?.(so) ?? so, object);
  return {
    objects: [...world.objects, ...drawn.flatMap(({ added = [] }) => added)].map(changed),
    features: Object.assign({ gates }, ...drawn.map((one) => one.features)) as Features,
    events: drawn.flatMap(({ events = [] }) => events),
  };
}
