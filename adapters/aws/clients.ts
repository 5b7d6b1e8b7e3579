// The ports on AWS: EC2 (fleet, inventory, status), prices, wake-ups on SQS, announcements on EventBridge, roles and
// zonal shifts. In: SDK clients and credentials. Out: core/model's objects and the port's errors; AWS error codes stay
// in errors.ts. Nothing here decides what is launched or when.

import { EC2Client } from "@aws-sdk/client-ec2";
import { IAMClient } from "@aws-sdk/client-iam";
import { PricingClient } from "@aws-sdk/client-pricing";
import { SSMClient } from "@aws-sdk/client-ssm";

import { pricingRegion } from "#settings/partitions.ts";
import type { CredentialSource } from "./assume-role.ts";

/**
 * Makes AWS clients. Each function makes those that it uses, so that a bundle holds no others. Endpoints follow
 * AWS_ENDPOINT_URL_<SERVICE>.
 */

/**
 * Without these, an endpoint that cannot be reached (no route to IAM or pricing in an isolated VPC) would block a
 * function until its own time-out.
 */
const requestHandler = { connectionTimeout: 2_000, requestTimeout: 20_000 };

/**
 * @param retryMode with "adaptive" retries a throttled client makes fewer calls of every action; a client with a pace
 * (pace.ts) needs "standard", because a question that is throttled must slow down no launch
 */
export function ec2Client(region: string, credentials: CredentialSource, retryMode: "adaptive" | "standard" = "adaptive"): EC2Client {
  return new EC2Client({ region, credentials, maxAttempts: 5, retryMode, requestHandler });
}

export function ssmClient(region: string, credentials: CredentialSource): SSMClient {
  return new SSMClient({ region, credentials, maxAttempts: 5, requestHandler });
}

export function iamClient(region: string, credentials: CredentialSource): IAMClient {
  return new IAMClient({ region, credentials, maxAttempts: 5, requestHandler });
}

/** The Price List API has endpoints in few regions, each of which serves others too. */
export function pricingClient(region: string, credentials: CredentialSource): PricingClient {
  return new PricingClient({ region: pricingRegion(region), credentials, maxAttempts: 3, requestHandler });
}
