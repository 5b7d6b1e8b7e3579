import { createHash } from "node:crypto";
import type { FunctionName } from "./functions.ts";

/** The name of a function's role in the account of a cluster that is in another account. */
export function roleNameInAccount(stackName: string, cluster: string, name: FunctionName): string {
  return `${stackName}-${cluster}-${name}`;
}

/** The name of the role with which EventBridge of that account sends its notices to the interruption queue. */
export function noticesRoleName(stackName: string, cluster: string): string {
  return `${stackName}-${cluster}-notices`;
}

/** The role of a cluster's nodes that the stack can make. */
export function nodeRoleName(cluster: string, os: "linux" | "windows"): string {
  return `KarpenterNodeRole-${cluster}${os === "windows" ? "-windows" : ""}`;
}

/**
 * The path in IAM of the roles that are made for clusters that are added to a stack; the name of their function
 * follows. What the functions may assume follows from this path alone, so it begins with the organization's.
 */
export function accessPath({ rolePath, stackName }: { readonly rolePath: string; readonly stackName: string }): string {
  return `${rolePath}karpenter-serverless/${stackName}/`;
}

/** CloudFormation's limit for the name of a stack. */
const MAX_STACK_NAME = 128;

/** The name of the small stack of a cluster: that of its account, or that of a cluster that was added. */
export function accessStackName(stackName: string, cluster: string): string {
  return `${stackName}-access-${cluster.replaceAll("_", "-")}`;
}

/**
 * The same for a cluster that was added. Stacks' names know no underscore and no more than 128 characters, so such
 * names end with a hash, and no two clusters have the same.
 */
export function addedStackName(stackName: string, cluster: string): string {
  const plain = accessStackName(stackName, cluster);
  if (plain.length <= MAX_STACK_NAME && !cluster.includes("_")) return plain;
  return `${plain.slice(0, MAX_STACK_NAME - 9)}-${createHash("sha256").update(cluster).digest("hex").slice(0, 8)}`;
}
