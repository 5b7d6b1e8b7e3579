import { expect, it } from "vitest";
import { secretText } from "#adapters/aws/secret.ts";

const ARN = "arn:aws:secretsmanager:us-west-2:111122223333:secret:NotifyToken-AbCdEf";

function answering(status: number, answer: unknown) {
  const calls: { url: string; body: string; headers: Record<string, string> }[] = [];
  const fetch = (async (url: string, { body, headers }: { body: string; headers: Record<string, string> }) => {
    calls.push({ url, body, headers });
    return new Response(JSON.stringify(answer), { status });
  }) as unknown as typeof globalThis.fetch;
  return {
    calls,
    caller: { region: "us-west-2", credentials: { accessKeyId: "ASIATEST", secretAccessKey: "s", sessionToken: "t" }, fetch },
  };
}

it("the text of a secret is read with one signed call", async () => {
  const { calls, caller } = answering(200, { SecretString: "hush" });
  expect(await secretText(ARN, caller)).toBe("hush");
  expect(calls).toMatchObject([
    {
      url: "https://secretsmanager.us-west-2.amazonaws.com/",
      body: JSON.stringify({ SecretId: ARN }),
      headers: { "x-amz-target": "secretsmanager.GetSecretValue", "x-amz-security-token": "t" },
    },
  ]);
});

it.for([
  { name: "a refusal", status: 400, answer: { Message: "is not authorized" }, says: `GetSecretValue of ${ARN}: 400 is not authorized` },
  { name: "a secret of bytes", status: 200, answer: { SecretBinary: "aHVzaA==" }, says: `the secret ${ARN} holds no text` },
])("$name becomes one sentence", async ({ status, answer, says }) => {
  await expect(secretText(ARN, answering(status, answer).caller)).rejects.toThrow(says);
});
