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
