import type { Toleration } from "#core/model/taint.ts";
import { RefusedError } from "#core/ports/errors.ts";
import type { ApiObject } from "#manifests/api-object.ts";
import { SYSTEM_PRIORITIES } from "#manifests/defaults.ts";

/**
 * A new object as the mutating admission plugins of the API server leave it. ResourceQuota and the bounds of a
 * LimitRange are not checked.
 */
export function admitted<T extends Pick<ApiObject, "metadata" | "spec">>(
  object: T,
  kind: string,
  namespace: string | undefined,
  objects: (kind: string) => readonly ApiObject[],
): T {
  if (kind === "PersistentVolumeClaim") return withDefaultClass(object, objects("StorageClass"));
  if (kind !== "Pod") return object;
  const { runtimeClassName } = (object.spec ?? {}) as { readonly runtimeClassName?: string };
  const ranges = objects("LimitRange").filter(({ metadata }) => metadata.namespace === namespace);
  const runtimeClass = objects("RuntimeClass").find(({ metadata }) => metadata.name === runtimeClassName);
  return withRuntimeClass(ranges.reduce(withLimitRange, withPriorityClass(object, objects("PriorityClass"))), runtimeClass);
}

/** The annotation by which a claim named its class before there was a field. */
const LEGACY_CLASS = "volume.beta.kubernetes.io/storage-class";
const DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class";

/** The name of the class of a claim: "" for none, undefined when the claim leaves it to the cluster. */
export const classNameOf = ({ metadata, spec }: Pick<ApiObject, "metadata" | "spec">): string | undefined =>
  metadata.annotations?.[LEGACY_CLASS] ?? (spec as { readonly storageClassName?: string } | undefined)?.storageClassName;

/**
 * A new claim as the admission plugin DefaultStorageClass leaves it: it names the default class when it names none
 * (kubernetes: plugin/pkg/admission/storage/storageclass/setdefault/admission.go, claimDefaulterPlugin.Admit).
 */
function withDefaultClass<T extends Pick<ApiObject, "metadata" | "spec">>(claim: T, classes: readonly ApiObject[]): T {
  const byDefault = classes.find(({ metadata }) => metadata.annotations?.[DEFAULT_CLASS] === "true");
  if (classNameOf(claim) !== undefined || byDefault === undefined) return claim;
  return { ...claim, spec: { ...(claim.spec as object), storageClassName: byDefault.metadata.name } };
}

/**
 * The admission plugin Priority: a pod that names no PriorityClass gets the one with globalDefault (of several, the
 * lowest), and takes its preemptionPolicy. Throws RefusedError for a class that does not exist
 * (kubernetes: plugin/pkg/admission/priority/admission.go, Plugin.Admit).
 */
function withPriorityClass<T extends Pick<ApiObject, "metadata" | "spec">>(pod: T, classes: readonly ApiObject[]): T {
  const spec = (pod.spec ?? {}) as { readonly priorityClassName?: string; readonly priority?: number };
  const lowest = (defaults: readonly ApiObject[]) => [...defaults].sort((a, b) => Number(a["value"]) - Number(b["value"]))[0];
  const given = spec.priorityClassName || undefined;
  const found =
    given === undefined && spec.priority === undefined
      ? lowest(classes.filter((c) => c["globalDefault"] === true))
      : classes.find((c) => c.metadata.name === given);
  if (!found) {
    if (given === undefined || SYSTEM_PRIORITIES[given] !== undefined) return pod;
    const { name, generateName } = pod.metadata as { readonly name?: string; readonly generateName?: string };
    throw new RefusedError(`pods "${name || generateName}" is forbidden: no PriorityClass with name ${given} was found`);
  }
  const { preemptionPolicy } = found;
  return { ...pod, spec: { ...(preemptionPolicy !== undefined && { preemptionPolicy }), ...spec, priorityClassName: found.metadata.name } };
}

type Amounts = Readonly<Record<string, string>>;

interface Resources {
  readonly resources?: { readonly requests?: Amounts; readonly limits?: Amounts };
}

/**
 * The defaults of a LimitRange for containers that say nothing about a resource. A request follows a limit that the
 * container itself sets, and where the range has no default, its bounds are the defaults (kubernetes:
 * plugin/pkg/admission/limitranger/admission.go, defaultContainerResourceRequirements).
 */
function withLimitRange<T extends { readonly spec?: unknown }>(pod: T, range: ApiObject): T {
  const spec = (pod.spec ?? {}) as { readonly containers?: readonly Resources[]; readonly initContainers?: readonly Resources[] };
  const { limits = [] } = range.spec as {
    readonly limits?: readonly ({ readonly type: string } & Readonly<Record<"default" | "defaultRequest" | "min" | "max", Amounts>>)[];
  };
  const item = limits.find(({ type }) => type === "Container");
  if (item === undefined) return pod;
  const limit = { ...item.max, ...item.default };
  const request = { ...item.min, ...limit, ...item.defaultRequest };
  const filled = (containers: readonly Resources[] = []): readonly Resources[] =>
    containers.map((container) => {
      const { requests, limits: own, ...others } = container.resources ?? {};
      return {
        ...container,
        resources: {
          ...others,
          requests: { ...request, ...own, ...requests },
          limits: { ...limit, ...own },
        },
      };
    });
  return {
    ...pod,
    spec: { ...spec, containers: filled(spec.containers), ...(spec.initContainers && { initContainers: filled(spec.initContainers) }) },
  };
}

/**
 * The admission plugin RuntimeClass: overhead, node selector and tolerations of the class
 * (kubernetes: plugin/pkg/admission/runtimeclass/admission.go, RuntimeClass.Admit). A class that does not exist adds
 * nothing, where the API server would refuse the pod.
 */
function withRuntimeClass<T extends { readonly spec?: unknown }>(pod: T, runtimeClass: ApiObject | undefined): T {
  if (runtimeClass === undefined) return pod;
  const { overhead, scheduling } = runtimeClass as ApiObject & {
    readonly overhead?: { readonly podFixed?: Amounts };
    readonly scheduling?: { readonly nodeSelector?: Amounts; readonly tolerations?: readonly Toleration[] };
  };
  const spec = (pod.spec ?? {}) as { readonly nodeSelector?: Amounts; readonly tolerations?: readonly Toleration[] };
  return {
    ...pod,
    spec: {
      ...spec,
      ...(overhead?.podFixed && { overhead: overhead.podFixed }),
      ...(scheduling?.nodeSelector && { nodeSelector: { ...spec.nodeSelector, ...scheduling.nodeSelector } }),
      ...(scheduling?.tolerations && { tolerations: [...(spec.tolerations ?? []), ...scheduling.tolerations] }),
    },
  };
}
