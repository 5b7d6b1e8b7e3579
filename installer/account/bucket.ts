import type { SignedCaller, SignedRequest } from "#adapters/aws/signed-fetch.ts";
import { signedFetch } from "#adapters/aws/signed-fetch.ts";
import { text } from "#adapters/aws/stack-outputs.ts";
import { dnsSuffix } from "#settings/partitions.ts";
import type { Bucket } from "./ports.ts";

/** The bucket of an account and region, one for all stacks. */
const bucketNameOf = (account: string, region: string): string => `karpenter-serverless-${account}-${region}`;

/** Uploads of a megabyte may take longer than a question. */
const TIMEOUT_MS = 120_000;

/**
 * The bucket on S3. Every call names the account that must own it, because another account may have taken the name. S3
 * encrypts new buckets and keeps them private by itself.
 */
export function s3Bucket(account: string, caller: Omit<SignedCaller, "service">): Bucket {
  const { region, endpoint = `https://s3.${region}.${dnsSuffix(region)}` } = caller;
  const name = bucketNameOf(account, region);
  const ask = (method: SignedRequest["method"], path: string, body?: SignedRequest["body"]): Promise<Response> =>
    signedFetch(
      { ...caller, endpoint, service: "s3", timeoutMs: TIMEOUT_MS },
      { method, path, headers: { "x-amz-expected-bucket-owner": account }, ...(body !== undefined && { body }) },
    );
  const answered = async (response: Response, doing: string): Promise<void> => {
    if (!response.ok) throw new Error(`${doing}: ${text(await response.text(), "Message") || `S3 answers ${response.status}`}`);
  };
  return {
    name,
    ensure: async () => {
      const { status } = await ask("HEAD", `/${name}`);
      if (status === 200) return;
      if (status === 403) throw new Error(`bucket ${name}: you have no access to it, or another account has taken its name`);
      const place = region === "us-east-1" ? undefined : location(region);
      await answered(await ask("PUT", `/${name}`, place), `making bucket ${name}`);
    },
    has: async (key) => (await ask("HEAD", `/${name}/${key}`)).status === 200,
    put: async (key, body) => answered(await ask("PUT", `/${name}/${key}`, body), `writing ${key} to bucket ${name}`),
    url: (key) => `${endpoint}/${name}/${key}`,
  };
}

const location = (region: string): string =>
  `<CreateBucketConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><LocationConstraint>${region}</LocationConstraint></CreateBucketConfiguration>`;
