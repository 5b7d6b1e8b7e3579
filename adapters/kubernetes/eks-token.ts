import { Sha256 } from "@smithy/core/checksum";
import { HttpRequest } from "@smithy/protocol-http";
import { SignatureV4 } from "@smithy/signature-v4";
import { dnsSuffix } from "#settings/partitions.ts";

interface EksTokenOptions {
  /** Name of the EKS cluster; a token is valid for this cluster only. */
  readonly cluster: string;
  readonly region: string;
  /** The SDK's credentials or a provider of them (`defaultProvider()`). */
  readonly credentials: ConstructorParameters<typeof SignatureV4>[0]["credentials"];
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

/** A server accepts a token for 15 minutes after it was signed. */
const RENEW_AFTER_MS = 10 * 60_000;
/** The URL's expiry; the server does not check it. */
const EXPIRES_SECONDS = 60;

/**
 * A source of bearer tokens for an EKS API server: presigned sts:GetCallerIdentity URLs, as aws-iam-authenticator
 * creates them. This makes no call and needs no permission. A token is used for ten minutes; its age is checked at each
 * use, because timers do not run in a frozen function. `renew` makes a new token whatever the age.
 */
export function eksToken(options: EksTokenOptions): (asked?: { readonly renew?: boolean }) => Promise<string> {
  const now = options.now ?? Date.now;
  const signer = new SignatureV4({ service: "sts", region: options.region, credentials: options.credentials, sha256: Sha256 });
  const hostname = `sts.${options.region}.${dnsSuffix(options.region)}`;
  let kept: { readonly token: string; readonly signedAt: number } | undefined;

  return async ({ renew = false } = {}) => {
    const signedAt = now();
    if (kept !== undefined && !renew && signedAt - kept.signedAt < RENEW_AFTER_MS && signedAt >= kept.signedAt) {
      return kept.token;
    }
    const request = new HttpRequest({
      ...{ method: "GET", protocol: "https:", hostname, path: "/" },
      query: { Action: "GetCallerIdentity", Version: "2011-06-15" },
      // Not an `x-amz-…` header, so it stays a signed header and does not move to the query.
      headers: { host: hostname, "x-k8s-aws-id": options.cluster },
    });
    const signed = await signer.presign(request, { expiresIn: EXPIRES_SECONDS, signingDate: new Date(signedAt) });
    const query = new URLSearchParams(Object.entries(signed.query ?? {}).map(([name, value]): [string, string] => [name, String(value)]));
    // RFC 3986, as it was signed: URLSearchParams encodes a space as "+".
    const url = `https://${hostname}/?${query.toString().replaceAll("+", "%20")}`;
    const token = `k8s-aws-v1.${Buffer.from(url).toString("base64url")}`;
    kept = { token, signedAt };
    return token;
  };
}
