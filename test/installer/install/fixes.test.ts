import { expect, it } from "vitest";
import { fixOf } from "#installer/install/fixes.ts";

it.for([
  { reason: "CatalogInc2: No cluster found for name: c2", mend: "take c2 out of clusters, or name it as EKS does" },
  { reason: "Role: KarpenterNodeRole-c1 already exists in stack x", mend: "delete the role KarpenterNodeRole-c1" },
  { reason: "X: User: y is not authorized to perform: sqs:CreateQueue on", mend: "ask for the right sqs:CreateQueue" },
  { reason: "NotifyFunctionUrlA1: The following hook(s) failed: [H]", mend: "give --public-url restApi" },
  { reason: "AuditFilterOfc1: Resource limit exceeded", mend: "remove one of the two subscription filters" },
  { reason: "Intents: Resource limit exceeded", mend: "fix that" },
])("CloudFormation's reason '$reason' leads to what a person can do: $mend", ({ reason, mend }) => {
  expect(fixOf(reason)).toContain(mend);
});
