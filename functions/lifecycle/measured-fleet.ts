import { failureOf } from "#core/launch/failure.ts";
import type { FleetResult } from "#core/model/fleet.ts";
import { NotFoundError, RefusedError } from "#core/ports/errors.ts";
import type { Fleet } from "#core/ports/fleet.ts";
import type { LifecycleDeps } from "../shared/cluster-deps.ts";

/** Karpenter's names of its cloud provider's methods. GetInstanceTypes and IsDrifted make no call here. */
type Method = "Create" | "Delete" | "Get" | "List" | "Reboot";
/** Karpenter's names of errors; "" for all others. */
type CloudError = "InsufficientCapacityError" | "NodeClaimNotFoundError" | "NodeClassNotReadyError" | "";

const labelsOf = (method: Method) => ({ controller: "lifecycle", method, provider: "aws" });

/** Counts a call that has failed (karpenter: pkg/cloudprovider/metrics/cloudprovider.go, ErrorsTotal). */
export function countCloudError(method: Method, error: CloudError, { metrics }: Pick<LifecycleDeps, "metrics">): void {
  metrics.count("cloudprovider_errors_total", { ...labelsOf(method), error });
}

/** The error that Karpenter counts for an answer without an exception. */
const launchError = ({ instance, errors }: FleetResult): CloudError | undefined =>
  instance !== undefined ? undefined : failureOf(errors).kind === "InsufficientCapacity" ? "InsufficientCapacityError" : "";

/**
 * The same port; each call is measured and its failure counted, as Karpenter does with the methods of its cloud
 * provider (karpenter: pkg/cloudprovider/metrics/cloudprovider.go, MethodDuration).
 */
export function measuredFleet({ fleet, metrics, now }: Pick<LifecycleDeps, "fleet" | "metrics" | "now">): Fleet {
  const measured = async <T>(method: Method, call: () => Promise<T>, errorOf: (answer: T) => CloudError | undefined): Promise<T> => {
    const began = now();
    let error: CloudError | undefined = "";
    try {
      const answer = await call();
      error = errorOf(answer);
      return answer;
    } finally {
      metrics.observe("cloudprovider_duration_seconds", labelsOf(method), (now() - began) / 1_000);
      if (error !== undefined) countCloudError(method, error, { metrics });
    }
  };
  const isNoError = () => undefined;
  return {
    ...fleet,
    launch: (request) => measured("Create", () => fleet.launch(request), launchError),
    ...(fleet.reboot && { reboot: (id: string) => measured("Reboot", async () => fleet.reboot?.(id), isNoError) }),
    terminate: (id) => measured("Delete", () => fleet.terminate(id), isNoError),
    describe: (ids) =>
      measured(
        "Get",
        () => fleet.describe(ids),
        (found) => (ids.length === 1 && found.length === 0 ? "NodeClaimNotFoundError" : undefined),
      ),
    list: (cluster) => measured("List", () => fleet.list(cluster), isNoError),
  };
}

/** Where an instance is, as far as that is known. */
interface Place {
  readonly zone?: string | undefined;
  readonly zoneId?: string | undefined;
}

/**
 * Terminates an instance, and counts a refusal
 * (karpenter-provider-aws: pkg/providers/instance/metrics.go, InstanceTerminationFailuresTotal).
 */
export async function terminateInstance(
  id: string,
  { zone = "", zoneId = "" }: Place,
  { fleet, metrics }: Pick<LifecycleDeps, "fleet" | "metrics">,
): Promise<void> {
  try {
    await fleet.terminate(id);
  } catch (error) {
    metrics.count("cloudprovider_instance_termination_failures_total", { zone, zone_id: zoneId });
    throw error;
  }
}

/** Reboots an instance; why that can never succeed, undefined when EC2 has accepted it. */
export async function rebootInstance(id: string, { fleet }: Pick<LifecycleDeps, "fleet">): Promise<string | undefined> {
  if (fleet.reboot === undefined) return "reboot not implemented by the cloud provider";
  try {
    await fleet.reboot(id);
    return undefined;
  } catch (error) {
    if (error instanceof NotFoundError || error instanceof RefusedError) return error.message;
    throw error;
  }
}
