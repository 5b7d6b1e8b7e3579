import { defaultProvider } from "@aws-sdk/credential-provider-node";
import type { SignedCaller } from "./signed-fetch.ts";

/**
 * The person who runs a command, as the SDK's clients find out: credentials of the environment, of a profile or of a
 * login, and the endpoint in AWS_ENDPOINT_URL_<SERVICE> or AWS_ENDPOINT_URL.
 */
export function ownCaller(service: string, region: string): Omit<SignedCaller, "service"> {
  const endpoint = process.env[`AWS_ENDPOINT_URL_${service}`] ?? process.env["AWS_ENDPOINT_URL"];
  return { region, credentials: defaultProvider(), ...(endpoint !== undefined && { endpoint }) };
}
