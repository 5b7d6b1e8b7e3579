import { isDeepStrictEqual } from "node:util";
import * as sdk from "@aws-sdk/client-ec2";
import { AwsError } from "../errors.ts";
import type { OperationSchema } from "../wire/schema.ts";
import type { FakeAwsState } from "../world.ts";
import type { CallContext } from "./capacity.ts";
import { createFleet } from "./fleet.ts";
import { describeImages } from "./images.ts";
import { describeInstanceStatus, describeInstances, rebootInstances, runInstances, terminateInstances } from "./instances.ts";
import { createLaunchTemplate, deleteLaunchTemplate, describeLaunchTemplates, describeLaunchTemplateVersions } from "./launch-templates.ts";
import { describeAvailabilityZones, describeSecurityGroups, describeSubnets } from "./network.ts";
import { describeInstanceTypeOfferings, describeInstanceTypes, describeSpotPriceHistory } from "./offer.ts";
import { describeCapacityReservations, describePlacementGroups } from "./reservations.ts";
import { createTags, deleteTags } from "./tags.ts";

export type Ec2Action = {
  readonly operation: OperationSchema;
  readonly handle: (world: FakeAwsState, request: Record<string, unknown>, context: CallContext) => unknown;
};

const MAX_TOKEN = 64;

// The decoder gives each handler its own request type; this cast is the only place that assumes it.
const action = <I>(operation: unknown, handle: (world: FakeAwsState, request: I, context: CallContext) => unknown): Ec2Action => ({
  operation: operation as OperationSchema,
  handle: (world, request, context) => handle(world, request as I, context),
});

/** Every EC2 action that the fake implements. Other actions are answered with InvalidAction. */
export const EC2_ACTIONS: Readonly<Record<string, Ec2Action>> = {
  CreateFleet: action(sdk.CreateFleet$, once("CreateFleet", createFleet)),
  RunInstances: action(sdk.RunInstances$, once("RunInstances", runInstances)),
  DescribeInstances: action(sdk.DescribeInstances$, describeInstances),
  DescribeInstanceStatus: action(sdk.DescribeInstanceStatus$, describeInstanceStatus),
  RebootInstances: action(sdk.RebootInstances$, rebootInstances),
  TerminateInstances: action(sdk.TerminateInstances$, terminateInstances),
  CreateTags: action(sdk.CreateTags$, createTags),
  DeleteTags: action(sdk.DeleteTags$, deleteTags),
  CreateLaunchTemplate: action(sdk.CreateLaunchTemplate$, once("CreateLaunchTemplate", createLaunchTemplate)),
  DescribeLaunchTemplates: action(sdk.DescribeLaunchTemplates$, describeLaunchTemplates),
  DescribeLaunchTemplateVersions: action(sdk.DescribeLaunchTemplateVersions$, describeLaunchTemplateVersions),
  DeleteLaunchTemplate: action(sdk.DeleteLaunchTemplate$, deleteLaunchTemplate),
  DescribeSubnets: action(sdk.DescribeSubnets$, describeSubnets),
  DescribeSecurityGroups: action(sdk.DescribeSecurityGroups$, describeSecurityGroups),
  DescribeAvailabilityZones: action(sdk.DescribeAvailabilityZones$, describeAvailabilityZones),
  DescribeImages: action(sdk.DescribeImages$, describeImages),
  DescribeInstanceTypes: action(sdk.DescribeInstanceTypes$, describeInstanceTypes),
  DescribeInstanceTypeOfferings: action(sdk.DescribeInstanceTypeOfferings$, describeInstanceTypeOfferings),
  DescribeSpotPriceHistory: action(sdk.DescribeSpotPriceHistory$, describeSpotPriceHistory),
  DescribeCapacityReservations: action(sdk.DescribeCapacityReservations$, describeCapacityReservations),
  DescribePlacementGroups: action(sdk.DescribePlacementGroups$, describePlacementGroups),
};

/**
 * A client token makes a call idempotent: the same token and parameters return the first answer and do nothing; the
 * same token with other parameters is refused. A refused call is not remembered, so that it can be tried again.
 */
function once<I extends { readonly ClientToken?: string | undefined }>(
  name: string,
  handle: (world: FakeAwsState, request: I, context: CallContext) => unknown,
): (world: FakeAwsState, request: I, context: CallContext) => unknown {
  return (world, request, context) => {
    const { ClientToken: token, ...params } = request;
    if (token === undefined) return handle(world, request, context);
    if (token.length > MAX_TOKEN) {
      throw new AwsError("InvalidParameterValue", `The client token has ${token.length} characters; at most ${MAX_TOKEN} are allowed.`);
    }
    const known = world.tokens.get(`${name} ${token}`);
    if (known) {
      if (isDeepStrictEqual(known.params, params)) return known.answer;
      throw new AwsError(
        "IdempotentParameterMismatch",
        `Arguments on this idempotent request are inconsistent with arguments used in previous request(s). Client token: ${token}`,
      );
    }
    const answer = handle(world, request, context);
    world.tokens.set(`${name} ${token}`, { params, answer });
    return answer;
  };
}
