import { broken, type Violation } from "../lib/invariant.ts";
import type { FleetRequest } from "../model/fleet.ts";
import type { KnownInstance } from "../model/instance.ts";

/** Why a request must not be sent; undefined when it obeys each rule. */
export function requestViolation({ launchTemplates, count = 1 }: Pick<FleetRequest, "launchTemplates" | "count">): Violation | undefined {
  const overrides = launchTemplates.flatMap((template) => template.overrides);
  if (!Number.isInteger(count) || count < 1) return broken("a launch is of whole instances", `it asks for ${count}`);
  const odd = overrides.find(({ price }) => !Number.isFinite(price) || price < 0);
  return odd && broken("the prices of a launch are finite and not negative", `${odd.instanceType} costs ${odd.price}`);
}

/** Why an instance is none that its request allows; undefined when it is. */
export function launchedViolation(
  { launchTemplates }: Pick<FleetRequest, "launchTemplates">,
  { id, instanceType }: Pick<KnownInstance, "id" | "instanceType">,
): Violation | undefined {
  const isRequested = launchTemplates.some(({ overrides }) => overrides.some((override) => override.instanceType === instanceType));
  return isRequested ? undefined : broken("a launch returns an instance type of its request", `${id} is ${instanceType}`);
}
