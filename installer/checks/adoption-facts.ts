import type { EC2NodeClass } from "#core/model/node-class.ts";
import { type Deployed, readDeployed } from "#infra/deployed.ts";
import { BadInput } from "#infra/end-with.ts";
import { addedStackName } from "#infra/role-names.ts";
import type { ClusterSettings } from "#infra/settings.ts";
import { InputError } from "#terminal/input-error.ts";
import type { AdoptPorts, ClusterApi, KubeObject } from "../account/ports.ts";
import { isOurs, type StackState } from "../account/stack-state.ts";
import { readDeployedCluster } from "../install/added-stack.ts";
import { findKarpenter, type KarpenterDeployment } from "../migrate/karpenter-deployment.ts";
import { runningLease } from "../migrate/karpenter-lease.ts";
import type { Observed } from "./facts.ts";
import { observed } from "./observe-account.ts";

/** A definition of a kind that Karpenter's objects have. */
interface DefinitionFacts {
  readonly name: string;
  /** Versions in which objects are or were stored. */
  readonly storedVersions: readonly string[];
  readonly servesV1: boolean;
}

/** What is known of a Karpenter and of the functions before anything is changed. */
export interface AdoptFacts {
  readonly cluster: string;
  readonly stackName: string;
  readonly stack: StackState | undefined;
  /** Whether the cluster was added to the stack, so that its settings do not name it. */
  readonly isAdded: boolean;
  /** Of a stack of a release that says so. */
  readonly deployed: Observed<Deployed | undefined>;
  readonly karpenter: KarpenterDeployment | undefined;
  /** The Lease of a Karpenter that runs. */
  readonly running: string | undefined;
  readonly definitions: readonly DefinitionFacts[];
  readonly nodeClasses: readonly EC2NodeClass[];
}

const CRD = { apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition" } as const;
const KINDS = ["nodepools.karpenter.sh", "nodeclaims.karpenter.sh", "ec2nodeclasses.karpenter.k8s.aws"];

interface Definition {
  readonly spec?: { readonly versions?: readonly { readonly name: string; readonly served?: boolean }[] };
  readonly status?: { readonly storedVersions?: readonly string[] };
}

export interface Intention {
  /** The stack is made or updated first, with Karpenter's settings and node roles. */
  readonly installs: boolean;
  /** A person or a repository scales Karpenter's Deployment. */
  readonly keepDeployment: boolean;
}

export type AdoptionFacts = AdoptFacts & Intention;

export interface Naming {
  readonly cluster: string;
  readonly stackName: string;
  /** "NAMESPACE/NAME" of Karpenter's Deployment. */
  readonly deployment?: string | undefined;
}

/**
 * Asks the account and the cluster. Changes nothing. Throws InputError where it is not clear which Karpenter is meant.
 */
export async function adoptFacts({ cluster, stackName, deployment }: Naming, ports: AdoptPorts): Promise<AdoptFacts> {
  const api = ports.clusterApi(cluster);
  const stack = await ports.stacks.describe(stackName);
  const ownName = addedStackName(stackName, cluster);
  const own = await ports.stacks.describe(ownName);
  const added = own === undefined ? undefined : readDeployedCluster(await ports.stacks.metadata(ownName), ownName)?.cluster;
  const karpenter = await findKarpenter(api, deployment);
  return {
    ...{ cluster, stackName, stack, karpenter, isAdded: added !== undefined },
    deployed: stack === undefined || !isOurs(stack) ? { value: undefined } : await observed(deployedBy(stackName, added, ports)),
    running: await runningLease(api, ports.now()),
    definitions: await definitions(api),
    nodeClasses: (await api.list({ apiVersion: "karpenter.k8s.aws/v1", kind: "EC2NodeClass" })) as readonly unknown[] as EC2NodeClass[],
  };
}

async function deployedBy(stackName: string, added: ClusterSettings | undefined, { stacks }: AdoptPorts): Promise<Deployed | undefined> {
  try {
    const deployed = readDeployed(await stacks.metadata(stackName), stackName);
    if (deployed === undefined || added === undefined) return deployed;
    return { ...deployed, settings: { ...deployed.settings, clusters: [...deployed.settings.clusters, added] } };
  } catch (error) {
    throw error instanceof BadInput ? new InputError(error.message) : error;
  }
}

async function definitions(api: Pick<ClusterApi, "find">): Promise<readonly DefinitionFacts[]> {
  const found: DefinitionFacts[] = [];
  for (const name of KINDS) {
    const definition = (await api.find({ ...CRD, metadata: { name } })) as (KubeObject & Definition) | undefined;
    if (definition === undefined) continue;
    const { storedVersions = [] } = definition.status ?? {};
    const servesV1 = (definition.spec?.versions ?? []).some((version) => version.name === "v1" && version.served !== false);
    found.push({ name, storedVersions, servesV1 });
  }
  return found;
}
