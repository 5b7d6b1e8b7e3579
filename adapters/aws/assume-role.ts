import type { STSClientConfig } from "@aws-sdk/client-sts";
import type { SignatureV4 } from "@smithy/signature-v4";

/** Temporary credentials as the SDK's clients take them. */
interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string;
  readonly expiration: Date;
}

/** Credentials or a source of them, as the SDK's clients and signers take them. */
export type CredentialSource = ConstructorParameters<typeof SignatureV4>[0]["credentials"];

export interface AssumeRoleOptions {
  readonly roleArn: string;
  /** The external ID that the role's trust policy asks for. */
  readonly externalId?: string;
  /** The session's name in the other account's CloudTrail. */
  readonly sessionName: string;
  readonly region: string;
  /** What a person can do when STS refuses, one sentence. */
  readonly mend: string;
  /** Credentials of the function's own role. */
  readonly credentials: CredentialSource;
  /** The region's STS endpoint when absent. */
  readonly endpoint?: string;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  /** For tests. */
  readonly requestHandler?: NonNullable<STSClientConfig["requestHandler"]>;
}

/** STS limits the session of a role that was assumed by another assumed role, such as a function's, to an hour. */
const SESSION_SECONDS = 3600;
/**
 * Credentials are renewed this long before they expire, so that no call and no token signed with them outlives them.
 */
const RENEW_BEFORE_MS = 5 * 60_000;
/** Without `throwOnRequestTimeout` the SDK only warns about a late answer. */
const TIMEOUTS = { connectionTimeout: 2_000, requestTimeout: 5_000, throwOnRequestTimeout: true };

/**
 * Credentials of another role: fetched on first use, shared by all users and renewed five minutes before they
 * expire. Rejects with a sentence that names the role when STS refuses.
 */
export function assumedRole(options: AssumeRoleOptions): () => Promise<Credentials> {
  const { now = Date.now } = options;
  // The SDK's clients cache what a credential source returns, its signer does not.
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
  const { roleArn, externalId, sessionName, region, credentials, endpoint, mend, requestHandler = TIMEOUTS } = options;
  // Imported on use: a cold start without other accounts does not load it.
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
    throw refusal(roleArn, mend, error);
  } finally {
    client.destroy();
  }
}

/** STS's refusal as a sentence of ours; any other error as it is. */
function refusal(roleArn: string, mend: string, error: unknown): unknown {
  if (!(error instanceof Error) || !("$fault" in error)) return error;
  return new Error(`STS does not let us act as ${roleArn}: ${error.name}: ${error.message}. ${mend}`);
}
