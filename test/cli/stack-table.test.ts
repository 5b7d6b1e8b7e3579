import { expect, it } from "vitest";
import { tableOf } from "#cli/stack-table.ts";
import { InputError } from "#terminal/input-error.ts";

const answering = (status: number, text: string) => ({
  credentials: { accessKeyId: "AKIATEST", secretAccessKey: "secret" },
  fetch: (async (_url: string, { body }: { body: string }) =>
    new Response(text.replace("STACK", new URLSearchParams(body).get("StackName") ?? ""), {
      status,
    })) as unknown as typeof globalThis.fetch,
});
const output = (name: string): string =>
  `<Outputs><member><OutputKey>${name}</OutputKey><OutputValue>table-of-STACK</OutputValue></member></Outputs>`;

it("the table is the output of the stack that is named, or of the usual one", async () => {
  const reader = answering(200, output("TableName"));
  expect(await tableOf({ stack: "mine" }, "us-west-2", reader)).toBe("table-of-mine");
  expect(await tableOf({}, "us-west-2", reader)).toBe("table-of-karpenter-serverless");
});

it("a table that is given is taken as it is, and nothing is asked", async () => {
  expect(await tableOf({ table: "t" }, "us-west-2", answering(500, ""))).toBe("t");
});

it.for([
  {
    name: "is not there",
    reader: answering(400, "<Message>Stack with id STACK does not exist.</Message>"),
    says: "does not exist; name the stack with --stack",
  },
  {
    name: "has no table",
    reader: answering(200, output("Other")),
    says: "has no output TableName; name the functions' stack with --stack",
  },
])("a stack that $name is told in one sentence with the remedy", async ({ reader, says }) => {
  const error = await tableOf({ stack: "s" }, "us-west-2", reader).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(InputError);
  expect(String(error)).toContain("stack s in us-west-2");
  expect(String(error)).toContain(says);
});
