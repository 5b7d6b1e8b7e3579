import { Sha256 } from "@aws-crypto/sha256-js";
import { HttpRequest } from "@smithy/protocol-http";
import { SignatureV4 } from "@smithy/signature-v4";

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
  /** "https://sts.REGION.amazonaws.com" when absent. */
  readonly endpoint?: string;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  /** A seam for tests. */
  readonly fetch?: typeof globalThis.fetch;
}

/** STS gives no longer session to a role that was itself assumed, as each function's is. */
const SESSION_SECONDS = 3600;
/** Renewed so long before its end: no call, and no token signed with it, should outlive it. */
const RENEW_BEFORE_MS = 5 * 60_000;
const TIMEOUT_MS = 5_000;

/**
 * Credentials of another account's role, asked for at their first use, shared by all who use them and renewed five minutes before they end. One call of
 * STS, signed here: its SDK client would be read in each cold start. Rejects with a sentence that names the role when STS refuses.
 */
export function assumedRole(options: AssumeRoleOptions): () => Promise<Credentials> {
  const { now = Date.now } = options;
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
  const { roleArn, externalId, sessionName, region, credentials, fetch = globalThis.fetch } = options;
  const endpoint = new URL(options.endpoint ?? `https://sts.${region}.${region.startsWith("cn-") ? "amazonaws.com.cn" : "amazonaws.com"}`);
  const asked = new URLSearchParams({
    ...{ Action: "AssumeRole", Version: "2011-06-15", RoleArn: roleArn, RoleSessionName: sessionName },
    DurationSeconds: String(SESSION_SECONDS),
    ...(externalId !== undefined && { ExternalId: externalId }),
  });
  const body = asked.toString();
  const signer = new SignatureV4({ service: "sts", region, credentials, sha256: Sha256 });
  const { headers } = await signer.sign(
    new HttpRequest({
      ...{ method: "POST", protocol: endpoint.protocol, hostname: endpoint.hostname, path: "/", body },
      ...(endpoint.port !== "" && { port: Number(endpoint.port) }),
      headers: { host: endpoint.host, "content-type": "application/x-www-form-urlencoded" },
    }),
  );
  const response = await fetch(endpoint, { method: "POST", headers, body, signal: AbortSignal.timeout(TIMEOUT_MS) });
  const xml = await response.text();
  if (!response.ok) {
    const why = [textOf(xml, "Code"), textOf(xml, "Message")].filter((part) => part !== "").join(": ") || `status ${response.status}`;
    throw new Error(
      `STS does not let us act as ${roleArn}: ${why}. Deploy the stack of that cluster's account, with this account and external id.`,
    );
  }
  return {
    accessKeyId: textOf(xml, "AccessKeyId"),
    secretAccessKey: textOf(xml, "SecretAccessKey"),
    sessionToken: textOf(xml, "SessionToken"),
    expiration: new Date(textOf(xml, "Expiration")),
  };
}

/** STS answers in XML without attributes or entities in what is read here. */
function textOf(xml: string, name: string): string {
  return new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1] ?? "";
}
