import type { STSClientConfig } from "@aws-sdk/client-sts";
import type { SignatureV4 } from "@smithy/signature-v4";

/** Temporary credentials as the SDK's clients take them. */
export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string;
  readonly expiration: Date;
}

/** Credentials or a source of them, as the SDK's clients and signers take them. */
export type CredentialSource = ConstructorParameters<typeof SignatureV4>[0]["credentials"];

export interface AssumeRoleOptions {
  readonly roleArn: string;
  /** What the role's trust asks for beside our name. */
  readonly externalId?: string;
  /** Who does it, as the other account's CloudTrail shows it. */
  readonly sessionName: string;
  readonly region: string;
  /** Of the function's own role. */
  readonly credentials: CredentialSource;
  /** STS of the region when absent. */
  readonly endpoint?: string;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  /** A seam for tests. */
  readonly requestHandler?: NonNullable<STSClientConfig["requestHandler"]>;
}

/** STS gives no longer session to a role that was itself assumed, as each function's is. */
const SESSION_SECONDS = 3600;
/** Renewed so long before its end: no call, and no token signed with it, should outlive it. */
const RENEW_BEFORE_MS = 5 * 60_000;
/** `throwOnRequestTimeout`: without it the SDK only warns of an answer that is late. */
const TIMEOUTS = { connectionTimeout: 2_000, requestTimeout: 5_000, throwOnRequestTimeout: true };

/**
 * Credentials of another account's role, asked for at their first use, shared by all who use them and renewed five minutes before they end. Rejects with
 * a sentence that names the role when STS refuses.
 */
export function assumedRole(options: AssumeRoleOptions): () => Promise<Credentials> {
  const { now = Date.now } = options;
  // The SDK's clients remember what a source gives, its signer does not.
  let kept: Credentials | undefined;
  let asking: Promise<Credentials> | undefined;
  return async () => {
    if (kept !== undefined && kept.expiration.getTime() - now() > RENEW_BEFORE_MS) return kept;
    asking ??= assume(options).finally(() => {
      asking = undefined;
    });
    kept = await asking;
    return kept;
  };
}

async function assume(options: AssumeRoleOptions): Promise<Credentials> {
  const { roleArn, externalId, sessionName, region, credentials, endpoint, requestHandler = TIMEOUTS } = options;
  // In a file of its own: a cold start without other accounts does not read it.
  const { AssumeRoleCommand, STSClient } = await import("@aws-sdk/client-sts");
  const client = new STSClient({ region, credentials, requestHandler, ...(endpoint !== undefined && { endpoint }) });
  try {
    const { Credentials: given } = await client.send(
      new AssumeRoleCommand({
        ...{ RoleArn: roleArn, RoleSessionName: sessionName, DurationSeconds: SESSION_SECONDS },
        ...(externalId !== undefined && { ExternalId: externalId }),
      }),
    );
    const { AccessKeyId: accessKeyId, SecretAccessKey: secretAccessKey, SessionToken: sessionToken, Expiration: expiration } = given ?? {};
    if (accessKeyId === undefined || secretAccessKey === undefined || sessionToken === undefined || expiration === undefined)
      throw new Error(`STS gave no credentials of ${roleArn}.`);
    return { accessKeyId, secretAccessKey, sessionToken, expiration };
  } catch (error) {
    throw refusal(roleArn, error);
  } finally {
    client.destroy();
  }
}

/** What STS answered in a sentence of ours; whatever else went wrong as it is. */
function refusal(roleArn: string, error: unknown): unknown {
  if (!(error instanceof Error) || !("$fault" in error)) return error;
  return new Error(
    `STS does not let us act as ${roleArn}: ${error.name}: ${error.message}. Deploy the stack of that cluster's account, with this account and external id.`,
  );
}
