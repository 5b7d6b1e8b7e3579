// installer/karpenter: a Karpenter that runs in a cluster, as its Deployment and its Lease show it.
// In: the API server. Out: which one runs, what it is set to, and orders to start and to end it. The functions, their
// stack and their records must not be known here.

import { conditionOf } from "#core/model/conditions.ts";
import { InputError } from "#terminal/input-error.ts";
import type { ClusterApi, KubeObject } from "../account/ports.ts";

/** A Karpenter that is installed, whether or not it runs. */
export interface KarpenterDeployment {
  readonly namespace: string;
  readonly name: string;
  readonly replicas: number;
  /** As in "1.14.1"; undefined where neither image nor label says. */
  readonly version?: string;
  /** Its settings by their names in the environment, from variables and arguments. */
  readonly settings: Readonly<Record<string, string>>;
  /** Where further settings come from that cannot be read here: names of ConfigMaps and Secrets. */
  readonly unread: readonly string[];
  /** What keeps the Deployment as a repository has it: "Argo CD", "Flux". */
  readonly gitOps?: string;
  /** How many replicas it had before `adopt` ended it. */
  readonly formerReplicas?: number;
  /** Selects its pods. */
  readonly podLabels: Readonly<Record<string, string>>;
}

interface Container {
  readonly image?: string;
  readonly args?: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value?: string }[];
  readonly envFrom?: readonly { readonly configMapRef?: { readonly name: string }; readonly secretRef?: { readonly name: string } }[];
}

interface Deployment extends KubeObject {
  readonly spec?: {
    readonly replicas?: number;
    readonly selector?: { readonly matchLabels?: Readonly<Record<string, string>> };
    readonly template?: { readonly spec?: { readonly containers?: readonly Container[] } };
  };
}

/** Annotation of Karpenter's Deployment while the functions have its nodes: how many replicas it had. */
export const FORMER_REPLICAS = "karpenter-serverless/former-replicas";

/** The name that Karpenter's chart gives its Deployment as a label. */
const LABEL = { key: "app.kubernetes.io/name", value: "karpenter" };

const IMAGE = /(^|\/)karpenter\/controller[:@]/;

const TYPE = { apiVersion: "apps/v1", kind: "Deployment" } as const;

/** The Deployment as an object for orders. */
export const objectOf = ({ namespace, name }: Pick<KarpenterDeployment, "namespace" | "name">): KubeObject => ({
  ...TYPE,
  metadata: { namespace, name },
});

/**
 * The cluster's Karpenter: the Deployment of the given name, or the only one with the label of Karpenter's chart or
 * with its image. Undefined when there is none. Throws InputError when there are several.
 * @param given "NAMESPACE/NAME"
 */
export async function findKarpenter(api: Pick<ClusterApi, "list">, given?: string): Promise<KarpenterDeployment | undefined> {
  const all = (await api.list(TYPE)) as readonly Deployment[];
  const named = (one: Deployment): string => `${one.metadata.namespace}/${one.metadata.name}`;
  const found = all.filter((one) => (given === undefined ? isKarpenter(one) : named(one) === given)).map(read);
  if (given !== undefined && found.length === 0)
    throw new InputError(`there is no Deployment ${given}; name Karpenter's with --deployment NAMESPACE/NAME`);
  if (found.length > 1)
    throw new InputError(
      `there are ${found.length} Deployments of Karpenter (${found.map(({ namespace, name }) => `${namespace}/${name}`).join(", ")}); name one with --deployment`,
    );
  return found[0];
}

function isKarpenter({ metadata, spec }: Deployment): boolean {
  const containers = spec?.template?.spec?.containers ?? [];
  return metadata.labels?.[LABEL.key] === LABEL.value || containers.some(({ image = "" }) => IMAGE.test(image));
}

function read({ metadata, spec }: Deployment): KarpenterDeployment {
  const { namespace = "default", name, labels = {}, annotations = {} } = metadata;
  const containers = spec?.template?.spec?.containers ?? [];
  const controller = containers.find(({ image = "" }) => IMAGE.test(image)) ?? containers[0];
  const [, version] = /:v?(\d+\.\d+\.\d+)/.exec(controller?.image ?? "") ?? [undefined, labels["app.kubernetes.io/version"]];
  const former = Number(annotations[FORMER_REPLICAS]);
  const gitOps = Object.keys({ ...labels, ...annotations }).some((key) => /argocd\.argoproj\.io\//.test(key))
    ? "Argo CD"
    : Object.keys(labels).some((key) => /\.toolkit\.fluxcd\.io\//.test(key))
      ? "Flux"
      : undefined;
  return {
    ...{ namespace, name, replicas: spec?.replicas ?? 1, podLabels: spec?.selector?.matchLabels ?? {} },
    ...(version !== undefined && { version }),
    settings: { ...variables(controller?.env ?? []), ...flags(controller?.args ?? []) },
    unread: (controller?.envFrom ?? []).flatMap(({ configMapRef, secretRef }) => configMapRef?.name ?? secretRef?.name ?? []),
    ...(gitOps !== undefined && { gitOps }),
    ...(former > 0 && { formerReplicas: former }),
  };
}

/** Those with a value of their own; what Kubernetes fills in is about the pod. */
const variables = (env: NonNullable<Container["env"]>): Readonly<Record<string, string>> =>
  Object.fromEntries(env.flatMap(({ name, value }) => (value === undefined || value === "" ? [] : [[name, value]])));

/** "--batch-idle-duration=2s" sets what BATCH_IDLE_DURATION does. */
const flags = (args: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(
    args.flatMap((arg) => {
      const [, name = "", value = ""] = /^--?([a-z][a-z-]*)=(.*)$/s.exec(arg) ?? [];
      return name === "" ? [] : [[name.replaceAll("-", "_").toUpperCase(), value]];
    }),
  );

/** Its pods that still run or end. */
export async function podsOf(deployment: KarpenterDeployment, api: Pick<ClusterApi, "list">): Promise<readonly string[]> {
  const labelSelector = Object.entries(deployment.podLabels)
    .map(([key, value]) => `${key}=${value}`)
    .join(",");
  const pods = await api.list({ apiVersion: "v1", kind: "Pod" }, { labelSelector });
  const isOver = ({ status }: KubeObject): boolean => /^(Succeeded|Failed)$/.test((status as { readonly phase?: string })?.phase ?? "");
  return pods.filter((pod) => pod.metadata.namespace === deployment.namespace && !isOver(pod)).map(({ metadata }) => metadata.name);
}

/** Whether one of its pods is Ready. */
export async function isReady(deployment: KarpenterDeployment, api: Pick<ClusterApi, "find">): Promise<boolean> {
  const found = (await api.find(objectOf(deployment))) as
    | { readonly status?: { readonly conditions?: Parameters<typeof conditionOf>[0] } }
    | undefined;
  return conditionOf(found?.status?.conditions, "Available")?.status === "True";
}

/** How a person does it. */
export const scaling = ({ namespace, name }: Pick<KarpenterDeployment, "namespace" | "name">, replicas: number): string =>
  `kubectl scale deployment ${name} --namespace ${namespace} --replicas ${replicas}`;

/** Ends Karpenter, and keeps how many replicas it had. Safe to repeat. */
export async function scaleToZero(deployment: KarpenterDeployment, api: Pick<ClusterApi, "patch">): Promise<void> {
  if (deployment.replicas === 0) return;
  const annotations = { [FORMER_REPLICAS]: String(deployment.replicas) };
  await api.patch(objectOf(deployment), { metadata: { annotations }, spec: { replicas: 0 } });
}

/** What Karpenter's chart starts. */
const DEFAULT_REPLICAS = 2;

/** How many replicas it had, or would have by its chart. */
export const replicasBefore = ({ replicas, formerReplicas }: KarpenterDeployment): number =>
  replicas > 0 ? replicas : (formerReplicas ?? DEFAULT_REPLICAS);

/** Starts Karpenter again with as many replicas as it had. Safe to repeat. */
export async function scaleUp(deployment: KarpenterDeployment, api: Pick<ClusterApi, "patch">): Promise<void> {
  await api.patch(objectOf(deployment), {
    metadata: { annotations: { [FORMER_REPLICAS]: null } },
    spec: { replicas: replicasBefore(deployment) },
  });
}
