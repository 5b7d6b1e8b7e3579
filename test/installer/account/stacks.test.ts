import { describe, expect, it } from "vitest";
import { leftBehindOnAws } from "#installer/account/left-behind.ts";
import { cloudFormationStacks } from "#installer/account/stacks.ts";

const credentials = async () => ({ accessKeyId: "AKIDEXAMPLE", secretAccessKey: "secret" });

/** A service that answers with one text after another, and keeps the bodies it was sent. */
function answering(...answers: readonly string[]) {
  const sent: string[] = [];
  const fetch = async (_: unknown, init?: RequestInit) => new Response(answers[sent.push(String(init?.body)) - 1] ?? "{}");
  return { caller: { region: "us-west-2", credentials, fetch: fetch as typeof globalThis.fetch }, sent };
}

const resource = (type: string, id: string) =>
  `<member><LogicalResourceId>L${type}</LogicalResourceId><ResourceType>${type}</ResourceType><PhysicalResourceId>${id}</PhysicalResourceId></member>`;
const event = (resource: string, status: string) =>
  `<member><EventId>${resource}-${status}</EventId><LogicalResourceId>${resource}</LogicalResourceId><ResourceStatus>${status}</ResourceStatus></member>`;

describe("lists of an account", () => {
  it("resources of a stack are read to the last page", async () => {
    const { caller, sent } = answering(`${resource("A", "1")}<NextToken>a/b=</NextToken>`, resource("B", "2"));
    expect(await cloudFormationStacks(caller).resources("s")).toEqual([
      { name: "LA", type: "A", id: "1" },
      { name: "LB", type: "B", id: "2" },
    ]);
    expect(sent[1]).toContain("NextToken=a%2Fb%3D");
  });

  it("events of a stack are read to the page with the begin of the last attempt, where the reason of a rollback is", async () => {
    const { caller, sent } = answering(
      `${event("x", "DELETE_COMPLETE")}<NextToken>1</NextToken>`,
      `${event("y", "CREATE_FAILED")}${event("s", "CREATE_IN_PROGRESS")}<NextToken>2</NextToken>`,
      event("s", "DELETE_COMPLETE"),
    );
    expect((await cloudFormationStacks(caller).events("s")).map(({ status }) => status)).toEqual([
      "DELETE_COMPLETE",
      "CREATE_FAILED",
      "CREATE_IN_PROGRESS",
    ]);
    expect(sent).toHaveLength(2);
  });

  it("tables of a stack that is gone are found on every page by the tags of the product and the stack", async () => {
    const page = (name: string, PaginationToken: string) =>
      JSON.stringify({ ResourceTagMappingList: [{ ResourceARN: `arn:aws:dynamodb:us-west-2:1:table/${name}` }], PaginationToken });
    const { caller, sent } = answering(page("a", "next"), page("b", ""));
    expect(await leftBehindOnAws("us-west-2", credentials, caller).tables("s")).toEqual(["a", "b"]);
    expect(sent[0]).toContain('{"Key":"aws:cloudformation:stack-name","Values":["s"]}');
    expect(sent[1]).toContain('"PaginationToken":"next"');
  });
});
