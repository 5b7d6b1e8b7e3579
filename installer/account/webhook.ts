import type { ClusterApi, KubeObject } from "./ports.ts";

interface WebhookConfiguration {
  readonly webhooks?: readonly { readonly name: string; readonly clientConfig?: { readonly url?: string } }[];
}

const NOTIFY: KubeObject = {
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "ValidatingWebhookConfiguration",
  metadata: { name: "karpenter-serverless-notify" },
};

/** The URLs that the cluster's webhook of `notify` calls; undefined when none is registered. */
export async function notifyUrls(api: Pick<ClusterApi, "find">): Promise<readonly string[] | undefined> {
  const found = await api.find(NOTIFY);
  if (found === undefined) return undefined;
  const { webhooks = [] } = found as unknown as WebhookConfiguration;
  return [...new Set(webhooks.flatMap(({ clientConfig }) => clientConfig?.url ?? []))];
}

/** Whether a webhook's URL is one of the function at this address, whatever the secret in its path. */
export const callsUrl = (webhookUrl: string, functionUrl: string, cluster: string): boolean =>
  webhookUrl.startsWith(`${functionUrl.replace(/\/$/, "")}/v1/${cluster}/`);
