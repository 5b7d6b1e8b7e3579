import { type SignedCaller, signedFetch } from "./signed-fetch.ts";

/**
 * The present text of a secret in Secrets Manager. Throws one sentence when it cannot be read. The one call to the
 * service that is needed, so the functions behind webhooks, whose cold starts matter most, do not load its SDK client.
 */
export async function secretText(arn: string, caller: Omit<SignedCaller, "service">): Promise<string> {
  const response = await signedFetch(
    { ...caller, service: "secretsmanager" },
    {
      method: "POST",
      headers: { "content-type": "application/x-amz-json-1.1", "x-amz-target": "secretsmanager.GetSecretValue" },
      body: JSON.stringify({ SecretId: arn }),
    },
  );
  const {
    SecretString,
    message,
    Message = message,
  } = (await response.json().catch(() => ({}))) as Readonly<Record<"SecretString" | "message" | "Message", string | undefined>>;
  if (!response.ok) throw new Error(`GetSecretValue of ${arn}: ${response.status} ${Message ?? ""}`.trimEnd());
  if (SecretString === undefined) throw new Error(`the secret ${arn} holds no text; store the token in it as text`);
  return SecretString;
}
