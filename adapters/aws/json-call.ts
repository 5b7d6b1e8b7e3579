import { type SignedCaller, signedFetch } from "./signed-fetch.ts";

/** An operation of a service that speaks JSON with a target. */
interface JsonCall {
  /** As in "secretsmanager.GetSecretValue". */
  readonly target: string;
  readonly input: object;
  /** What an error is about, as in "GetSecretValue of ARN"; the operation when absent. */
  readonly doing?: string;
  /** The protocol's version, "1.1" when absent. */
  readonly version?: "1.0" | "1.1";
}

/** The answer of one call. Throws one sentence with the service's message. */
export async function jsonCall<Answer>(caller: SignedCaller, { target, input, doing, version = "1.1" }: JsonCall): Promise<Answer> {
  const headers = { "content-type": `application/x-amz-json-${version}`, "x-amz-target": target };
  const response = await signedFetch(caller, { method: "POST", headers, body: JSON.stringify(input) });
  const answer = (await response.json().catch(() => ({}))) as { readonly message?: string; readonly Message?: string };
  if (response.ok) return answer as Answer;
  const { message, Message = message ?? "" } = answer;
  throw new Error(`${doing ?? target.split(".").at(-1)}: ${response.status} ${Message}`.trimEnd());
}
