import { jsonCall } from "./json-call.ts";
import type { SignedCaller } from "./signed-fetch.ts";

/**
 * The present text of a secret in Secrets Manager. Throws one sentence when it cannot be read. The one call to the
 * service that is needed, so the functions behind webhooks, whose cold starts matter most, do not load its SDK client.
 */
export async function secretText(arn: string, caller: Omit<SignedCaller, "service">): Promise<string> {
  const { SecretString } = await jsonCall<{ readonly SecretString?: string }>(
    { ...caller, service: "secretsmanager" },
    { target: "secretsmanager.GetSecretValue", input: { SecretId: arn }, doing: `GetSecretValue of ${arn}` },
  );
  if (SecretString === undefined) throw new Error(`the secret ${arn} holds no text; store the token in it as text`);
  return SecretString;
}
