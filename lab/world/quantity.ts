import type { ResourceList } from "#core/model/kubernetes.ts";
import type { Container, ContainerStatus, Pod } from "#core/model/pod.ts";

/**
 * The arithmetic of quantities of the simulated cluster. It does not use the core's on purpose: a world with the same
 * mistakes would never show them.
 */

const SUFFIXES: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  "": 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

/** A Kubernetes quantity as a plain number; undefined when the text is not a quantity. */
export function toNumber(quantity: unknown): number | undefined {
  if (typeof quantity === "number") return Number.isFinite(quantity) ? quantity : undefined;
  if (typeof quantity !== "string") return undefined;
  const parsed = /^([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)(n|u|m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)?$/.exec(quantity.trim());
  const factor = SUFFIXES[parsed?.[2] ?? ""];
  return parsed?.[1] === undefined || factor === undefined ? undefined : Number(parsed[1]) * factor;
}

export type Amounts = Map<string, number>;

export function toAmounts(list: ResourceList | undefined): Amounts {
  const amounts: Amounts = new Map();
  for (const [name, quantity] of Object.entries(list ?? {})) amounts.set(name, toNumber(quantity) ?? 0);
  return amounts;
}

export function add(into: Amounts, more: Amounts): void {
  for (const [name, amount] of more) into.set(name, (into.get(name) ?? 0) + amount);
}

/**
 * What kube-scheduler reserves for a pod: the sum of containers and sidecars, or the largest init step when that is
 * more, plus overhead. Pod-level requests replace the sum where they are given (KEP 753, KEP 2837). A container whose
 * requests are changed in place counts with the most that it asks for, was promised or runs with (KEP 1287). `assumed`
 * are requests of containers that name none.
 */
export function podRequests({ spec, status = {} }: Pick<Pod, "spec" | "status">, assumed: ResourceList = {}): Amounts {
  const refused = (status.conditions ?? []).some(({ type, reason }) => type === "PodResizePending" && reason === "Infeasible");
  const states = [...(status.containerStatuses ?? []), ...(status.initContainerStatuses ?? [])];
  const requestsOf = (container: Container): Amounts => {
    // The API server fills requests from limits where they are absent.
    const wanted = { ...container.resources?.limits, ...container.resources?.requests };
    const isRunning = container.restartPolicy === "Always" || spec.containers?.includes(container) === true;
    const held = heldAmounts(wanted, isRunning ? states.find(({ name }) => name === container.name) : undefined, refused);
    return new Map([...toAmounts(assumed), ...held]);
  };
  const running: Amounts = new Map();
  for (const container of spec.containers ?? []) add(running, requestsOf(container));
  const sidecars: Amounts = new Map();
  const peak: Amounts = new Map();
  for (const container of spec.initContainers ?? []) {
    const step = requestsOf(container);
    if (container.restartPolicy === "Always") {
      add(sidecars, step);
      raise(peak, sidecars);
    } else {
      add(step, sidecars);
      raise(peak, step);
    }
  }
  add(running, sidecars);
  raise(running, peak);
  const { requests: podLevel } = spec.resources ?? {};
  for (const [name, amount] of podLevel ? heldAmounts(podLevel, status, refused) : []) running.set(name, amount);
  add(running, toAmounts(spec.overhead));
  running.set("pods", 1);
  return running;
}

/** What is held during a resize; a resize that was refused does not count. */
function heldAmounts(wanted: ResourceList, state: Omit<ContainerStatus, "name"> | undefined, refused: boolean): Amounts {
  const amounts = toAmounts(wanted);
  if (state?.resources === undefined) return amounts;
  if (refused) amounts.clear();
  raise(amounts, toAmounts(state.resources.requests));
  raise(amounts, toAmounts(state.allocatedResources));
  return amounts;
}

function raise(into: Amounts, other: Amounts): void {
  for (const [name, amount] of other) into.set(name, Math.max(into.get(name) ?? 0, amount));
}

/** Resources of which less is free than requested. The tolerance is for sums of fractions of a core. */
export function lacking(requests: Amounts, free: Amounts): string[] {
  const names: string[] = [];
  for (const [name, amount] of requests) if (amount > 0 && amount > (free.get(name) ?? 0) + 1e-6) names.push(name);
  return names;
}
