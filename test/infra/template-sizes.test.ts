import { expect, it } from "vitest";
import { HEADINGS, sizesOf } from "./template-sizes.ts";

const template = (resources: object, description = ""): string => JSON.stringify({ Description: description, Resources: resources });
const many = (count: number, resource: object): object => Object.fromEntries(Array.from({ length: count }, (_, i) => [`R${i}`, resource]));
const policyOf = (role: string) => ({ Type: "AWS::IAM::ManagedPolicy", Properties: { PolicyDocument: {}, Roles: [{ Ref: role }] } });

it.for([
  { name: "a small template", text: template({}), isSent: true, faults: [] },
  { name: "one that needs S3, from S3", text: template({}, "x".repeat(51_200)), isSent: false, faults: [] },
  {
    name: "one that is sent, with less than 5 % left",
    text: template({}, "x".repeat(48_700)),
    isSent: true,
    faults: [/bytes 487\d\d of 51200/],
  },
  { name: "too many resources", text: template(many(476, { Type: "AWS::SQS::Queue" })), isSent: false, faults: [/resources 476 of 500/] },
  {
    name: "a role with all policies that it may have, and one with some",
    text: template({ ...many(10, policyOf("A")), B: policyOf("B") }),
    isSent: false,
    faults: [/policies of a role 10 of 10/],
  },
])("$name", ({ text, isSent, faults }) => {
  const { row, faults: found } = sizesOf("it", text, isSent);
  expect(row).toHaveLength(HEADINGS.length);
  expect(found).toEqual(faults.map((fault) => expect.stringMatching(fault)));
});
