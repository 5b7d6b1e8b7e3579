import { expect, it } from "vitest";
import { stackOutputs } from "#adapters/aws/stack-outputs.ts";

const xml = (outputs: string): string =>
  `<DescribeStacksResponse><DescribeStacksResult><Stacks><member><StackName>s</StackName><Outputs>${outputs}</Outputs></member></Stacks></DescribeStacksResult></DescribeStacksResponse>`;

function asked(status: number, text: string, endpoint?: string) {
  const calls: { url: string; body: string; headers: Record<string, string> }[] = [];
  const fetch = (async (url: string, { body, headers }: { body: string; headers: Record<string, string> }) => {
    calls.push({ url, body, headers });
    return new Response(text, { status });
  }) as unknown as typeof globalThis.fetch;
  const credentials = { accessKeyId: "AKIATEST", secretAccessKey: "secret" };
  return { calls, reader: { region: "eu-central-2", credentials, fetch, ...(endpoint !== undefined && { endpoint }) } };
}

it("the outputs of a stack are read with a signed call", async () => {
  const { calls, reader } = asked(
    200,
    xml(
      "<member><OutputKey>TableName</OutputKey><OutputValue>s-Intents-1A</OutputValue><Description>a &lt;b&gt;</Description></member>" +
        "<member><OutputKey>NotifyUrl</OutputKey><OutputValue>https://x/?a=1&amp;b=&amp;lt;&#x27;&#39;&unknown;</OutputValue></member>",
    ),
  );
  expect(await stackOutputs("s", reader)).toEqual({ TableName: "s-Intents-1A", NotifyUrl: "https://x/?a=1&b=&lt;''&unknown;" });
  expect(calls[0]?.url).toBe("https://cloudformation.eu-central-2.amazonaws.com/");
  expect(calls[0]?.body).toBe("Action=DescribeStacks&Version=2010-05-15&StackName=s");
  expect(calls[0]?.headers["authorization"]).toContain("/eu-central-2/cloudformation/aws4_request");
});

it("another endpoint may be given", async () => {
  const { calls, reader } = asked(200, xml(""), "http://127.0.0.1:4566");
  expect(await stackOutputs("s", reader)).toEqual({});
  expect(calls[0]?.url).toBe("http://127.0.0.1:4566/");
});

it.for([
  {
    name: "in the words of CloudFormation",
    text: "<ErrorResponse><Error><Code>ValidationError</Code><Message>Stack with id s does not exist</Message></Error></ErrorResponse>",
    says: "stack s in eu-central-2: Stack with id s does not exist",
  },
  { name: "by its status", text: "", says: "stack s in eu-central-2: CloudFormation answers 400" },
])("a refusal is told $name", async ({ text, says }) => {
  await expect(stackOutputs("s", asked(400, text).reader)).rejects.toThrow(says);
});

it("characters that XML writes as numbers are read as themselves", async () => {
  const { reader } = asked(
    200,
    xml("<member><OutputKey>A</OutputKey><OutputValue>the &#39;b&#x27; &#xZZ; &amp;#39;</OutputValue></member>"),
  );
  expect(await stackOutputs("s", reader)).toEqual({ A: "the 'b' &#xZZ; &#39;" });
});
