import type { EC2NodeClass } from "#core/model/node-class.ts";
import type { DeploymentSettings } from "#infra/settings.ts";
import { InputError } from "#terminal/input-error.ts";
import type { ClusterApi } from "../account/ports.ts";
import { findKarpenter, type KarpenterDeployment } from "./karpenter-deployment.ts";
import { taken } from "./karpenter-settings.ts";

/** What a deployment takes from a Karpenter. */
export interface FromKarpenter {
  /** Karpenter's settings that the functions have too. */
  readonly settings: DeploymentSettings["settings"];
  /** The roles of its EC2NodeClasses, without their paths. */
  readonly nodeRoles: readonly string[];
}

/** Reads a cluster's Karpenter. Throws InputError where there is none. */
export async function readKarpenter(api: Pick<ClusterApi, "list">, cluster: string, deployment?: string): Promise<FromKarpenter> {
  const karpenter: KarpenterDeployment | undefined = await findKarpenter(api, deployment);
  if (karpenter === undefined)
    throw new InputError(
      `cluster ${cluster} has no Deployment of Karpenter; name it with --deployment NAMESPACE/NAME, or leave --from-karpenter out`,
    );
  const classes = (await api.list({
    apiVersion: "karpenter.k8s.aws/v1",
    kind: "EC2NodeClass",
  })) as readonly unknown[] as readonly EC2NodeClass[];
  return { settings: taken(karpenter.settings), nodeRoles: [...new Set(classes.flatMap(({ spec }) => spec.role ?? []))] };
}

/** The settings with Karpenter's; what a person's own settings say comes first. */
export function withKarpenters(own: DeploymentSettings, cluster: string, { settings, nodeRoles }: FromKarpenter): DeploymentSettings {
  return {
    ...own,
    settings: { ...settings, ...own.settings },
    clusters: own.clusters.map((one) =>
      one.name === cluster && one.nodeRoles === undefined && nodeRoles.length > 0 ? { ...one, nodeRoles: [...nodeRoles] } : one,
    ),
  };
}
