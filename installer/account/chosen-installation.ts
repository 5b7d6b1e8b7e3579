import { readOnly } from "#adapters/kubernetes/read-only.ts";
import { httpsTransport } from "#adapters/kubernetes/transport.ts";
import { InputError } from "#terminal/input-error.ts";
import { awsPorts } from "./aws-ports.ts";
import { clusterApi } from "./cluster-api.ts";
import { explained, kubeconfigCluster } from "./kubeconfig.ts";
import type { InstallationPorts } from "./ports.ts";

/** How a person names an installation: the cluster of EKS, a context of the kubeconfig, or both. */
export interface Choice {
  readonly cluster?: string | undefined;
  readonly context?: string | undefined;
  readonly kubeconfig?: string | undefined;
  readonly region?: string | undefined;
  readonly stack?: string | undefined;
}

export interface Chosen {
  readonly cluster: string;
  readonly region: string;
  readonly ports: InstallationPorts;
}

const ARN = /arn:aws[\w-]*:eks:([\w-]+):\d+:cluster\/([\w-]+)$/;

/**
 * The installation that a person names. A context that `aws eks update-kubeconfig` has written says the cluster and its
 * region. Without a context the API server is reached with AWS credentials. Throws InputError.
 */
export async function chosenInstallation({ kubeconfig, context, ...given }: Choice): Promise<Chosen> {
  const found =
    context === undefined && kubeconfig === undefined
      ? undefined
      : await kubeconfigCluster({ ...(kubeconfig !== undefined && { kubeconfig }), ...(context !== undefined && { context }) });
  const [, arnRegion, arnCluster] = ARN.exec(found?.context ?? "") ?? [];
  const cluster = given.cluster ?? arnCluster;
  const region = given.region ?? arnRegion ?? process.env["AWS_REGION"] ?? process.env["AWS_DEFAULT_REGION"] ?? "";
  if (cluster === undefined)
    throw new InputError(
      found === undefined
        ? "name the EKS cluster with --cluster NAME, or a context of the kubeconfig with --context NAME"
        : `context ${found.context} does not say which EKS cluster it is; name the cluster with --cluster NAME too`,
    );
  if (region === "") throw new InputError("say in which region the cluster is: --region us-west-2, or set AWS_REGION");
  const ports = awsPorts(region);
  const throughContext = found && (() => clusterApi(explained(readOnly(httpsTransport(found).send), found), Date.now));
  return { cluster, region, ports: throughContext === undefined ? ports : { ...ports, clusterApi: throughContext } };
}
