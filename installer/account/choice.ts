import { DEFAULT_STACK } from "#terminal/arguments.ts";
import { text } from "#terminal/command-line.ts";

/** The words of a command line that name an installation. */
export const CHOICE = {
  cluster: text("NAME", "name of the EKS cluster"),
  context: text("NAME", "reach the API server by this context of the kubeconfig; one of aws eks update-kubeconfig says the cluster too"),
  kubeconfig: text("FILE", "kubeconfig file; $KUBECONFIG or ~/.kube/config when absent"),
  region: text("REGION", "AWS region of the cluster; AWS_REGION when absent"),
  stack: text("NAME", `CloudFormation stack (${DEFAULT_STACK})`),
  json: { type: "flag", description: "the same as JSON" },
} as const;
