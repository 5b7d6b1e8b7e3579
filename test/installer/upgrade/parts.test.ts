import { describe, expect, it } from "vitest";
import { cloudFormationChangeSets } from "#installer/account/change-sets.ts";
import { lostFields, pathText, says } from "#installer/upgrade/definitions.ts";
import { schemaVerdict } from "#installer/upgrade/schema.ts";

describe("a change set of CloudFormation", () => {
  const credentials = async () => ({ accessKeyId: "AKIDEXAMPLE", secretAccessKey: "secret" });
  const answering = (...answers: readonly (string | Response)[]) => {
    const sent: string[] = [];
    const fetch = async (_: unknown, init?: RequestInit) => {
      const answer = answers[sent.push(String(init?.body)) - 1] ?? "";
      return answer instanceof Response ? answer : new Response(answer);
    };
    return { reader: { region: "us-west-2", credentials, fetch: fetch as typeof globalThis.fetch }, sent };
  };
  const target = (name: string) =>
    `<member><Target><Attribute>Properties</Attribute><Name>${name}</Name></Target><Evaluation>Static</Evaluation></member>`;
  const change = (fields: string, details: string) =>
    `<member><Type>Resource</Type><ResourceChange>${fields}<Scope><member>Properties</member></Scope><Details>${details}</Details></ResourceChange></member>`;
  const page = (changes: string, more: string) =>
    `<DescribeChangeSetResult><Status>CREATE_COMPLETE</Status><StatusReason></StatusReason><Changes>${changes}</Changes>${more}</DescribeChangeSetResult>`;

  it("is read to its last page, with what changes of each resource", async () => {
    const function_ =
      "<Action>Modify</Action><LogicalResourceId>P1</LogicalResourceId><PhysicalResourceId>p</PhysicalResourceId><ResourceType>AWS::Lambda::Function</ResourceType><Replacement>False</Replacement>";
    const queue = "<Action>Add</Action><LogicalResourceId>Q1</LogicalResourceId><ResourceType>AWS::SQS::Queue</ResourceType>";
    const { reader, sent } = answering(
      page(change(function_, target("Code") + target("Tags") + target("Tags")), "<NextToken>n</NextToken>"),
      page(change(queue, ""), ""),
    );
    expect((await cloudFormationChangeSets(reader).describe("s", "c"))?.changes).toEqual([
      { action: "Modify", name: "P1", id: "p", type: "AWS::Lambda::Function", replacement: "False", what: ["Code", "Tags"] },
      { action: "Add", name: "Q1", id: "", type: "AWS::SQS::Queue", replacement: "False", what: [] },
    ]);
    expect(sent[1]).toContain("NextToken=n");
  });

  it("that is not there is undefined, and its removal does nothing", async () => {
    const missing = () =>
      new Response("<Error><Code>ChangeSetNotFound</Code><Message>ChangeSet [c] does not exist</Message></Error>", { status: 404 });
    const { reader } = answering(missing(), missing());
    const sets = cloudFormationChangeSets(reader);
    expect(await sets.describe("s", "c")).toBeUndefined();
    await expect(sets.remove("s", "c")).resolves.toBeUndefined();
  });
});

describe("a step between two versions of the records", () => {
  it.for([
    { deployed: 1, own: 1, level: "ok" },
    { deployed: 1, own: 3, level: "ok" },
    { deployed: 2, own: 1, level: "note" },
    { deployed: 3, own: 1, level: "fault" },
  ])("from schema $deployed to $own is $level", ({ deployed, own, level }) => {
    const verdict = schemaVerdict({ version: "0.5.0", recordSchema: deployed }, { version: "0.6.0", recordSchema: own });
    expect(verdict.level).toBe(level);
  });

  it("says which release lies between", () => {
    const { text } = schemaVerdict({ version: "0.5.0", recordSchema: 3 }, { version: "0.3.0", recordSchema: 1 });
    expect(text).toContain("go back step by step, first to a release of schema 2");
  });
});

describe("fields of a definition", () => {
  const definition = (spec: object) => ({
    ...{ apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition", metadata: { name: "d" } },
    spec: { versions: [{ name: "v1", schema: { openAPIV3Schema: { properties: { spec } } } }] },
  });
  const text = { type: "string" };

  it("are lost at any depth, in lists and in maps, but not below what may hold anything", () => {
    const before = definition({
      properties: {
        kept: text,
        gone: text,
        list: { items: { properties: { a: text, b: text } } },
        map: { additionalProperties: { properties: { c: text } } },
        any: { properties: { d: text } },
      },
    });
    const after = definition({
      properties: {
        kept: text,
        list: { items: { properties: { a: text } } },
        map: { additionalProperties: { properties: {} } },
        any: { "x-kubernetes-preserve-unknown-fields": true },
      },
    });
    expect(lostFields(before, after).map(pathText)).toEqual(["spec.gone", "spec.list[].b", "spec.map[].c"]);
    expect(lostFields(undefined, after)).toEqual([]);
  });

  it("are said by an object in any item of a list and under any key of a map", () => {
    const object = { spec: { list: [{ a: 1 }, { b: 2 }], map: { x: { c: null } } } };
    expect(says(object, ["spec", "list", "*", "b"])).toBe(true);
    expect(says(object, ["spec", "map", "*", "c"])).toBe(false);
    expect(says(object, ["spec", "gone"])).toBe(false);
  });
});
