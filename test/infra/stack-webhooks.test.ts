import { expect, it } from "vitest";
import { BadInput } from "#infra/end-with.ts";
import { webhooksOf } from "#infra/stack-webhooks.ts";

const SECRETS: Readonly<Record<string, string>> = { "arn:n": "0123456789abcdef-notify", "arn:a": "0123456789abcdef-admission" };

/** CloudFormation with one stack of these outputs, and Secrets Manager with the secrets above. */
function account(outputs: Readonly<Record<string, string>>) {
  const members = Object.entries(outputs).map(
    ([name, value]) => `<member><OutputKey>${name}</OutputKey><OutputValue>${value}</OutputValue></member>`,
  );
  const fetch = (async (url: string, { body }: { body: string }) => {
    if (url.includes("cloudformation")) return new Response(`<Outputs>${members.join("")}</Outputs>`);
    const { SecretId } = JSON.parse(body) as { SecretId: string };
    const SecretString = SECRETS[SecretId];
    return SecretString === undefined
      ? new Response(JSON.stringify({ message: "no such secret" }), { status: 400 })
      : new Response(JSON.stringify({ SecretString }));
  }) as unknown as typeof globalThis.fetch;
  return { fetch, credentials: { accessKeyId: "AKIATEST", secretAccessKey: "s" } };
}

it("the manifests command reads URLs and tokens from the deployed stack", async () => {
  const outputs = { NotifyUrl: "https://n/", NotifyTokenArn: "arn:n", AdmissionUrl: "https://a/", AdmissionTokenArn: "arn:a" };
  expect(await webhooksOf("s", "us-west-2", account(outputs))).toEqual({
    notifyUrl: "https://n/",
    notifyToken: "0123456789abcdef-notify",
    admissionUrl: "https://a/",
    admissionToken: "0123456789abcdef-admission",
  });
});

it("a stack without URLs has no webhooks", async () => {
  expect(await webhooksOf("s", "us-west-2", account({ TableName: "t" }))).toEqual({});
});

it("a token that cannot be read is told in one sentence with the remedy", async () => {
  const error = await webhooksOf("s", "us-west-2", account({ NotifyUrl: "https://n/", NotifyTokenArn: "arn:x" })).catch((e: unknown) => e);
  expect(error).toBeInstanceOf(BadInput);
  expect(String(error)).toMatch(/GetSecretValue of arn:x: 400 no such secret; check --stack, --region and your AWS credentials/);
});
