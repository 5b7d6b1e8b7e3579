import { Aspects, type Stack, Tags } from "aws-cdk-lib";
import { CfnManagedPolicy, CfnRole } from "aws-cdk-lib/aws-iam";
import type { DeploymentSettings } from "./settings.ts";

/** What an organization asks of every resource: its tags, the path of roles and the policy that bounds them. */
export function applyHouseRules(
  stack: Stack,
  { tags, rolePath, permissionsBoundary }: Pick<DeploymentSettings, "tags" | "rolePath"> & Partial<DeploymentSettings>,
): void {
  for (const [key, value] of Object.entries(tags)) Tags.of(stack).add(key, value);
  Aspects.of(stack).add({
    visit(node) {
      // A role with a fixed name is passed or assumed by an ARN that has no path.
      const isNamed = node instanceof CfnRole && stack.resolve(node.roleName) !== undefined;
      if (rolePath !== "/" && !isNamed && (node instanceof CfnRole || node instanceof CfnManagedPolicy)) node.path = rolePath;
      if (permissionsBoundary !== undefined && node instanceof CfnRole) node.permissionsBoundary = permissionsBoundary;
    },
  });
}
