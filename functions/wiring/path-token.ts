import { secretText } from "#adapters/aws/secret.ts";
import { fixedToken, type PathToken, secretToken } from "#adapters/lambda/path-token.ts";
import type { Log } from "#core/ports/log.ts";

/** Variables that Lambda sets: a function's credentials, which last as long as its process. */
type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The token of a function's public path: the text itself, or what the Secrets Manager secret of this ARN holds. The
 * credentials are taken from the environment, because the SDK's chain of providers would lengthen the cold start.
 */
export function wirePathToken(
  tokenOrArn: string,
  { region, secretsEndpoint }: { readonly region: string; readonly secretsEndpoint?: string },
  log: Log,
  environment: Environment = process.env,
): PathToken {
  if (!tokenOrArn.startsWith("arn:")) return fixedToken(tokenOrArn);
  const { AWS_ACCESS_KEY_ID: accessKeyId = "", AWS_SECRET_ACCESS_KEY: secretAccessKey = "", AWS_SESSION_TOKEN: sessionToken } = environment;
  const credentials = { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) };
  const caller = { region, credentials, ...(secretsEndpoint !== undefined && { endpoint: secretsEndpoint }) };
  return secretToken({ read: () => secretText(tokenOrArn, caller), log, now: Date.now });
}
