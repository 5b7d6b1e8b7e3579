import { App, Stack } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { PolicyStatement, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { expect, it } from "vitest";
import { cloudStatements } from "#infra/policies.ts";
import { MAX_INLINE_CHARACTERS, MAX_MANAGED_CHARACTERS, packed, roleWith, sizeOf } from "#infra/policy-size.ts";
import { parseSettings } from "#infra/settings.ts";

const stackOf = () => new Stack(new App(), "karpenter-serverless");
const clustersOf = (count: number, more: object = {}) =>
  parseSettings({ clusters: Array.from({ length: count }, (_, i) => ({ name: `production-cluster-${i}`, ...more })) }, "test").clusters;

it.for([1, 20, 50])("the policies of lifecycle and catalog are within IAM's limits for %i clusters", (count) => {
  const stack = stackOf();
  for (const name of ["lifecycle", "catalog"] as const) {
    const statements = cloudStatements(name, clustersOf(count), { ENABLE_ZONAL_SHIFT: "true" });
    const { inline, managed } = packed(stack, name, statements);
    const sizes = [inline, ...managed].map((some) => some.reduce((sum, statement) => sum + sizeOf(stack, statement), 0));
    console.log(`${name} of ${count} clusters: ${sizes.join(" + ")} characters`);
    expect(sizes[0]).toBeLessThanOrEqual(MAX_INLINE_CHARACTERS);
    for (const size of sizes.slice(1)) expect(size).toBeLessThanOrEqual(MAX_MANAGED_CHARACTERS);
    // Nothing is lost, and nothing is granted twice.
    expect(
      [inline, ...managed]
        .flat()
        .map(({ sid }) => sid)
        .sort(),
    ).toEqual(statements.map(({ sid }) => sid).sort());
  }
});

it("what a role's own policy does not take is in managed policies of the same role", () => {
  const stack = stackOf();
  const statements = Array.from(
    { length: 30 },
    (_, i) =>
      new PolicyStatement({ sid: `S${i}`, actions: ["sqs:SendMessage"], resources: [`arn:aws:sqs:us-west-2:1:${"q".repeat(500)}`] }),
  );
  roleWith(stack, "One", statements, { assumedBy: new ServicePrincipal("lambda.amazonaws.com") });
  const template = Template.fromStack(stack);
  const [[id] = [""]] = Object.entries(template.findResources("AWS::IAM::Role"));
  template.allResourcesProperties("AWS::IAM::ManagedPolicy", { Roles: [{ Ref: id }] });
  const text = JSON.stringify(template.toJSON());
  for (const { sid } of statements) expect(text.split(`"Sid":"${sid}"`).length, sid).toBe(2);
});

it("a list that is larger than a policy is refused at the synthesis, in one sentence", () => {
  const nodeRoles = Array.from({ length: 200 }, (_, i) => `a-team-with-a-long-name/nodes-${i}`);
  const statements = cloudStatements("lifecycle", clustersOf(1, { nodeRoles }), {});
  expect(() => packed(stackOf(), "LifecycleRole", statements)).toThrow(
    /^So many clusters and node roles make the policies of LifecycleRole larger than IAM takes; deploy some clusters under another stackName\.$/,
  );
});
