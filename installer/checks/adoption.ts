// Checks before the nodes of a Karpenter are taken over.
// In: what was found of the Karpenter, the functions and the cluster. Out: for each check a verdict, one sentence with
// the fix where something is missing. No check asks anybody or changes anything.

import { scaling } from "../migrate/karpenter-deployment.ts";
import { type CarriedSetting, carriedOver, differing } from "../migrate/karpenter-settings.ts";
import type { AdoptionFacts } from "./adoption-facts.ts";
import { nodeRoleOf } from "./facts.ts";
import { settledStack } from "./stack.ts";
import { type CheckResult, fault, note, of, ok, type Verdict } from "./verdict.ts";

/** The release of Karpenter whose API this product has. */
const COMPARED_WITH = [1, 14] as const;

/** Not where the command makes or updates the stack itself. */
export function stack({ installs, cluster, stackName, stack: found, isAdded }: AdoptionFacts): Verdict | undefined {
  if (installs) return undefined;
  const served = { error: "the records of clusters are not read" };
  return settledStack({ cluster, stackName, stack: { value: found }, served, isAdded }, "--from-karpenter");
}

export function runs({ karpenter, running }: AdoptionFacts): Verdict {
  if (karpenter !== undefined) {
    const { namespace, name, replicas } = karpenter;
    return ok(`Deployment ${namespace}/${name}, ${replicas === 0 ? "scaled to 0" : replicas === 1 ? "1 replica" : `${replicas} replicas`}`);
  }
  return running === undefined
    ? note("there is no Deployment of it; NodeClaims that it has left are adopted all the same")
    : fault(`it runs (Lease ${running}), and no Deployment of it is found; name its Deployment with --deployment NAMESPACE/NAME`);
}

export function version({ karpenter }: AdoptionFacts): Verdict | undefined {
  if (karpenter === undefined) return undefined;
  const { version: text } = karpenter;
  if (text === undefined) return note("its image does not say; the NodeClaims must be of karpenter.sh/v1");
  const [major = 0, minor = 0] = text.split(".").map(Number);
  const [ownMajor, ownMinor] = COMPARED_WITH;
  if (major < 1)
    return fault(`${text} stores objects as v1beta1; upgrade Karpenter to 1.x first, as its upgrade guide says, then run this again`);
  return major > ownMajor || minor > ownMinor
    ? note(`${text} is newer than ${ownMajor}.${ownMinor}, which this is compared with; fields that came later have no effect here`)
    : ok(text);
}

export function itsCluster({ cluster, karpenter }: AdoptionFacts): Verdict | undefined {
  if (karpenter === undefined) return undefined;
  const named = karpenter.settings["CLUSTER_NAME"];
  if (named === undefined)
    return note(`its Deployment does not say CLUSTER_NAME; its instances must have the tag eks:eks-cluster-name=${cluster}`);
  return named === cluster
    ? ok(named)
    : fault(`its CLUSTER_NAME is ${named}, so its instances are tagged for another cluster than ${cluster}; check --cluster`);
}

export function deployment({ karpenter, keepDeployment }: AdoptionFacts): Verdict | undefined {
  if (karpenter === undefined) return undefined;
  const { gitOps, replicas } = karpenter;
  if (replicas === 0) return ok("is scaled to 0");
  if (keepDeployment) return fault(`it still runs; end it, then run this again: ${scaling(karpenter, 0)}`);
  return gitOps === undefined
    ? ok(`is scaled from ${replicas} to 0`)
    : note(
        `${gitOps} keeps it as a repository has it, and would start it again; write replicas: 0 there, then give --keep-deployment, or stop its synchronization first`,
      );
}

/** Ours serve v1 alone, or v1beta1 too with the admission function. */
export function definitions({ definitions: all, deployed }: AdoptionFacts): Verdict {
  if (all.length === 0) return ok("none yet");
  const older = all.find(({ servesV1 }) => !servesV1);
  if (older !== undefined) return fault(`${older.name} does not serve v1; upgrade Karpenter to 1.x first`);
  const hasAdmission = "value" in deployed && deployed.value?.settings.admission === true;
  const lost = all.flatMap(({ name, storedVersions }) => storedVersions.filter((one) => one !== "v1").map((one) => `${name} ${one}`));
  return lost.length === 0 || hasAdmission
    ? ok(`${all.length}, stored as v1`)
    : fault(
        `objects may still be stored as ${lost.join(", ")}; write them again and correct status.storedVersions, as docs/deploy.md says under "Admission and v1beta1", or install with --admission`,
      );
}

/** The functions may pass to EC2 only the node roles that they were deployed with. */
export function nodeRoles({ cluster, nodeClasses, deployed, installs }: AdoptionFacts): readonly CheckResult[] {
  const named = [...new Set(nodeClasses.flatMap(({ spec }) => spec.role ?? []))];
  const profiles = nodeClasses.filter(({ spec }) => spec.role === undefined).map(({ metadata }) => metadata.name);
  const results: CheckResult[] = [];
  if (profiles.length > 0)
    results.push({
      name: "instance profiles",
      ...note(
        `EC2NodeClass ${profiles.join(", ")} names an instance profile; its role must be one of nodeRoles, which the functions may pass`,
      ),
    });
  if (named.length === 0) return results;
  const verdict = installs
    ? ok(`${named.join(", ")}, which the stack lets the functions pass to EC2`)
    : of(deployed, (value) => {
        if (value === undefined) return note(`not checked: the stack does not say its settings; ${named.join(", ")} must be in nodeRoles`);
        const own = value.settings.clusters.find(({ name }) => name === cluster);
        const allowed = (own?.nodeRoles ?? [nodeRoleOf(cluster, value.settings)]).map(bare);
        const missing = named.filter((role) => !allowed.includes(bare(role)));
        return missing.length === 0
          ? ok(named.join(", "))
          : fault(
              `the functions may not pass ${missing.join(", ")} to EC2; run karpenter-serverless install --cluster ${cluster} --from-karpenter, or name it in nodeRoles of the settings file`,
            );
      });
  return [{ name: "node roles", ...verdict }, ...results];
}

const bare = (role: string): string => role.slice(role.lastIndexOf("/") + 1);

/** What is set for Karpenter, and what the functions are set to. */
export function settings({ karpenter, deployed, installs }: AdoptionFacts): readonly CheckResult[] {
  if (karpenter === undefined) return [];
  const all = carriedOver(karpenter.settings);
  const own = "value" in deployed ? deployed.value?.settings.settings : undefined;
  const wanted = Object.fromEntries(all.flatMap(({ name, value, fate }) => (fate === "carried" ? [[name, value]] : [])));
  const open = new Set(installs ? [] : differing(wanted, own ?? {}));
  const unread = karpenter.unread.map((name) => ({
    name: "settings",
    ...note(`those in ${name} are not read here; write what you need of them into settings of a settings file`),
  }));
  return [...all.map((one) => ({ name: one.name, ...setting(one, open.has(one.name), own?.[one.name]) })), ...unread];
}

function setting({ name, value, fate, why }: CarriedSetting, differs: boolean, own: string | undefined): Verdict {
  if (fate === "none") return note(`${value} has no effect here: ${why}`);
  if (!differs) return ok(`${value}, here too`);
  return note(
    `${value} for Karpenter, ${own ?? "the default"} here; install --from-karpenter carries it over, or set ${name} in settings of a settings file`,
  );
}

export function queue({ karpenter }: AdoptionFacts): Verdict | undefined {
  const name = karpenter?.settings["INTERRUPTION_QUEUE"];
  return name === undefined
    ? undefined
    : ok(`${name} stays for the way back; nothing reads it meanwhile, and SQS drops its messages by age`);
}
