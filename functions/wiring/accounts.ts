import { defaultProvider } from "@aws-sdk/credential-provider-node";
import { assumedRole, type CredentialSource } from "#adapters/aws/assume-role.ts";
import type { ClusterConfig } from "#settings/cluster-list.ts";
import type { Base } from "./base.ts";

/** The AWS account of a cluster. */
export interface Account {
  /** Twelve digits; undefined for the account of the functions. */
  readonly id?: string;
  readonly credentials: CredentialSource;
}

type AccountOf = (cluster: ClusterConfig) => Account;

/**
 * The account and credentials that reach a cluster: the functions' own, or those of the role that the cluster names.
 * The role is assumed at its first use, and its credentials are shared by all clusters that name it.
 */
export function wireAccounts({ config, controller }: Pick<Base, "config" | "controller">): AccountOf {
  const credentials = defaultProvider();
  const own: Account = { credentials };
  const others = new Map<string, Account>();
  return ({ roleArn, externalId }) => {
    if (roleArn === undefined) return own;
    const known = others.get(roleArn);
    if (known !== undefined) return known;
    const account: Account = {
      id: accountIn(roleArn),
      credentials: assumedRole({
        ...{ roleArn, region: config.region, credentials, sessionName: `karpenter-serverless-${controller}` },
        ...{ mend: "Deploy the stack of that cluster's account, with this account and external id." },
        ...(externalId !== undefined && { externalId }),
        ...(config.stsEndpoint !== undefined && { endpoint: config.stsEndpoint }),
      }),
    };
    others.set(roleArn, account);
    return account;
  };
}

/**
 * The same for what a cluster has in AWS: machines, templates, profiles. A cluster that was added has a role for it in
 * the functions' own account, which can do nothing to other clusters' machines.
 */
export function wireOwnRoles({ config, controller }: Pick<Base, "config" | "controller">, accountOf: AccountOf): AccountOf {
  const credentials = defaultProvider();
  const kept = new Map<string, Account>();
  return (cluster) => {
    const roleArn = controller === "lifecycle" || controller === "catalog" ? cluster.roles?.[controller] : undefined;
    if (roleArn === undefined) return accountOf(cluster);
    const account: Account = kept.get(roleArn) ?? {
      credentials: assumedRole({
        ...{ roleArn, region: config.region, credentials, sessionName: `karpenter-serverless-${controller}` },
        mend: `Run karpenter-serverless install --cluster ${cluster.name} again, which creates the role.`,
        ...(config.stsEndpoint !== undefined && { endpoint: config.stsEndpoint }),
      }),
    };
    kept.set(roleArn, account);
    return account;
  };
}

/**
 * Makes one `T` for each account, at its first use, and keeps it, because clients keep connections and sources keep
 * what they have read.
 */
export function perAccount<T>(accountOf: AccountOf, make: (account: Account) => T): (cluster: ClusterConfig) => T {
  const made = new Map<Account, T>();
  return (cluster) => {
    const account = accountOf(cluster);
    const known = made.get(account) ?? make(account);
    made.set(account, known);
    return known;
  };
}

/** The account id in an ARN. */
function accountIn(arn: string): string {
  return arn.split(":")[4] ?? "";
}
