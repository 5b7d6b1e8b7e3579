/**
 * The rules of Kubernetes, implemented again for the judge from the API's documentation and without any code of the
 * solver: quantities, selectors, tolerations, requests. The code is slow and plain on purpose.
 */

// biome-ignore lint/suspicious/noExplicitAny: the judge reads raw API JSON as it is
export type RawJson = any;

const SUFFIX: Record<string, number> = {
  "": 1,
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  Ki: 1024,
  Mi: 1024 ** 2,
  Gi: 1024 ** 3,
  Ti: 1024 ** 4,
  Pi: 1024 ** 5,
};

/** A quantity in base units (cores, bytes). */
export function amount(quantity: string | number | undefined): number {
  if (quantity === undefined) return 0;
  if (typeof quantity === "number") return quantity;
  const exponent = /^([\d.]+)[eE]([+-]?\d+)$/.exec(quantity);
  if (exponent) return Number(exponent[1]) * 10 ** Number(exponent[2]);
  const [, number, suffix] = /^(-?[\d.]+)([A-Za-z]*)$/.exec(quantity) ?? [];
  const factor = SUFFIX[suffix ?? ""];
  if (number === undefined || factor === undefined) throw new Error(`not a quantity: ${quantity}`);
  return Number(number) * factor;
}

export type Amounts = Record<string, number>;

export function plus(a: Amounts, b: Amounts): Amounts {
  const sum = { ...a };
  for (const [name, n] of Object.entries(b)) sum[name] = (sum[name] ?? 0) + n;
  return sum;
}

function most(a: Amounts, b: Amounts): Amounts {
  const top = { ...a };
  for (const [name, n] of Object.entries(b)) top[name] = Math.max(top[name] ?? 0, n);
  return top;
}

export function amounts(list: RawJson): Amounts {
  return Object.fromEntries(Object.entries(list ?? {}).map(([name, q]) => [name, amount(q as string)]));
}

/**
 * What a pod takes from a node. A running container that is resized in place takes the most of what it wants, was
 * promised and has (KEP 1287).
 */
export function requestsOf({ spec, status }: RawJson): Amounts {
  const isRefused = (status?.conditions ?? []).some((c: RawJson) => c.type === "PodResizePending" && c.reason === "Infeasible");
  const held = (wanted: Amounts, state: RawJson): Amounts =>
    state?.resources === undefined
      ? wanted
      : most(most(isRefused ? {} : wanted, amounts(state.resources.requests)), amounts(state.allocatedResources));
  const states = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])];
  const of = (c: RawJson): Amounts => {
    const wanted = amounts(c.resources?.requests);
    const isStep = (spec.initContainers ?? []).includes(c) && c.restartPolicy !== "Always";
    return held(wanted, isStep ? undefined : states.find((s: RawJson) => s.name === c.name));
  };
  let sidecars: Amounts = {};
  let peak: Amounts = {};
  for (const c of spec.initContainers ?? []) {
    if (c.restartPolicy === "Always") sidecars = plus(sidecars, of(c));
    peak = most(peak, c.restartPolicy === "Always" ? sidecars : plus(sidecars, of(c)));
  }
  const running = (spec.containers ?? []).reduce((sum: Amounts, c: RawJson) => plus(sum, of(c)), sidecars);
  const all = most(running, peak);
  const pod = spec.resources?.requests ? held(amounts(spec.resources.requests), status) : {};
  return plus(plus({ ...all, ...pod }, amounts(spec.overhead)), { pods: 1 });
}

export function valueAllowed(operator: string, values: readonly string[], value: string | undefined): boolean {
  const n = value !== undefined && /^-?\d+$/.test(value) ? Number(value) : Number.NaN;
  const bound = Number(values[0]);
  switch (operator) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    case "Gt":
      return n > bound;
    case "Gte":
      return n >= bound;
    case "Lt":
      return n < bound;
    case "Lte":
      return n <= bound;
    default:
      throw new Error(`unknown operator ${operator}`);
  }
}

export type Labels = Record<string, string>;

const OLD_KEYS: Labels = {
  "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
  "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
  "beta.kubernetes.io/arch": "kubernetes.io/arch",
  "beta.kubernetes.io/os": "kubernetes.io/os",
  "beta.kubernetes.io/instance-type": "node.kubernetes.io/instance-type",
  "topology.ebs.csi.aws.com/zone": "topology.kubernetes.io/zone",
};

export function labelOf(labels: Labels, key: string): string | undefined {
  return labels[key] ?? labels[OLD_KEYS[key] ?? key];
}

function termHolds(term: RawJson, labels: Labels): boolean {
  return (term.matchExpressions ?? []).every((e: RawJson) => valueAllowed(e.operator, e.values ?? [], labelOf(labels, e.key)));
}

/** nodeSelector and required node affinity. */
export function likesNode(spec: RawJson, labels: Labels): boolean {
  if (!Object.entries(spec.nodeSelector ?? {}).every(([key, value]) => labelOf(labels, key) === value)) return false;
  const terms = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  return terms === undefined || terms.some((term: RawJson) => termHolds(term, labels));
}

/** The instance types of a NodePool; `typesOfPool` names those of pools that see other types than the scenario's. */
export function typesOf(scenario: RawJson, nodePool: string | undefined): RawJson[] {
  return scenario.typesOfPool?.[nodePool ?? ""] ?? scenario.instanceTypes;
}

/** A DaemonSet as the pods that it runs: its newest pod, because webhooks may have changed it, else its template. */
export interface JudgedDaemon {
  readonly uid: string;
  /** For requests, host ports and tolerations. */
  readonly pod: RawJson;
  /** For selectors and affinity: a pod of a DaemonSet is pinned to its own node. */
  readonly placement: RawJson;
}

export function daemonsOf(scenario: RawJson): JudgedDaemon[] {
  return (scenario.daemonSets ?? []).map(({ metadata, spec: { template } }: RawJson) => {
    const own = scenario.pods.filter((p: RawJson) => (p.metadata.ownerReferences ?? []).some((o: RawJson) => o.uid === metadata.uid));
    const age = (p: RawJson): string => `${p.metadata.creationTimestamp ?? ""} ${p.metadata.name}`;
    const newest = own.reduce((a: RawJson, b: RawJson) => (a === undefined || age(b) > age(a) ? b : a), undefined);
    // The API server fills requests from limits in pods, and not in templates.
    const filled = (c: RawJson): RawJson => ({ ...c, resources: { requests: { ...c.resources?.limits, ...c.resources?.requests } } });
    const spec = { ...template.spec, containers: template.spec.containers.map(filled) };
    const pod = newest ?? { ...template, spec };
    return { uid: metadata.uid, pod, placement: { ...template.spec, nodeSelector: pod.spec.nodeSelector } };
  });
}

export function anyTermHolds(terms: readonly RawJson[], labels: Labels): boolean {
  return terms.some((term) => termHolds(term, labels));
}

export function tolerates(tolerations: readonly RawJson[] | undefined, taint: RawJson): boolean {
  return (tolerations ?? []).some((t) => {
    if (t.effect && t.effect !== taint.effect) return false;
    if (t.key && t.key !== taint.key) return false;
    return t.operator === "Exists" || (t.key && (t.value ?? "") === (taint.value ?? ""));
  });
}

/** The first taint that repels the pod; PreferNoSchedule never repels. */
export function hardTaint(taints: readonly RawJson[] | undefined, tolerations: readonly RawJson[] | undefined): RawJson {
  return (taints ?? []).find((taint) => taint.effect !== "PreferNoSchedule" && !tolerates(tolerations, taint));
}

export function selectorMatches(selector: RawJson, labels: Labels | undefined): boolean {
  if (selector === undefined || selector === null) return false;
  const has = labels ?? {};
  return (
    Object.entries(selector.matchLabels ?? {}).every(([key, value]) => has[key] === value) &&
    (selector.matchExpressions ?? []).every((e: RawJson) => valueAllowed(e.operator, e.values ?? [], has[e.key]))
  );
}

export function portsOf(spec: RawJson): { ip: string; port: number; protocol: string }[] {
  return (spec.containers ?? []).flatMap((c: RawJson) =>
    (c.ports ?? [])
      .filter((p: RawJson) => p.hostPort)
      .map((p: RawJson) => ({ ip: p.hostIP || "0.0.0.0", port: p.hostPort, protocol: p.protocol ?? "TCP" })),
  );
}

export function portsClash(a: ReturnType<typeof portsOf>, b: ReturnType<typeof portsOf>): boolean {
  const any = (ip: string): boolean => ip === "0.0.0.0" || ip === "::";
  return a.some((x) => b.some((y) => x.port === y.port && x.protocol === y.protocol && (x.ip === y.ip || any(x.ip) || any(y.ip))));
}

/** A node as the judge expects it after the plan is carried out. */
export interface JudgedMachine {
  readonly name: string;
  readonly labels: Labels;
  readonly taints: readonly RawJson[];
  readonly pods: RawJson[];
  readonly isNew: boolean;
}

export const nameOf = (pod: RawJson): string => `${pod.metadata.namespace ?? "default"}/${pod.metadata.name}`;

/** Reports a broken rule and the pods concerned. */
export type Report = (text: string, ...pods: string[]) => void;

/** A resource whose use exceeds the room, except by rounding; undefined when all fit. */
export function exceeds(used: Amounts, room: Amounts): string | undefined {
  return Object.entries(used).find(([name, n]) => n > (room[name] ?? 0) * (1 + 1e-12) + 1e-9)?.[0];
}
