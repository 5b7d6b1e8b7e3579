import { type Deployed, readDeployed } from "#infra/deployed.ts";
import type { FunctionName } from "#infra/functions.ts";
import { LOOPING } from "#infra/runaway.ts";
import type { DeploymentSettings } from "#infra/settings.ts";
import type { InstallationPorts, LiveSettings } from "../account/ports.ts";
import { partsOf, type StackParts } from "../account/stack-parts.ts";
import { type AuditGroup, auditGroupOf, listensTo, type Observed } from "./facts.ts";
import { observed } from "./observe-account.ts";
import type { Named } from "./observe-health.ts";

/** What is set in AWS now, of the parts of a stack. */
export interface LiveFacts {
  /** "Allow" or "Terminate", of each function that may wake itself. */
  readonly recursiveLoops: readonly (Named<string> & { readonly functionName: string })[];
  /** Invocations of each of them in the last hour. */
  readonly invocations: readonly (Named<number> & { readonly name: FunctionName })[];
  readonly reserved: readonly (Named<number | undefined> & { readonly functionName: string })[];
  readonly sources: readonly (Named<boolean> & { readonly id: string })[];
  readonly schedules: readonly Named<boolean>[];
  readonly rules: readonly Named<boolean>[];
  /** The settings of the deployed template; undefined where it does not say. */
  readonly settings: Observed<DeploymentSettings | undefined>;
  /** Of functions in a VPC. */
  readonly network: Observed<Awaited<ReturnType<LiveSettings["network"]>> | undefined>;
  /** The class of the log group with the cluster's audit log; undefined where it is not listened to. */
  readonly auditLog: Observed<AuditGroup | undefined>;
}

const HOUR_MS = 60 * 60_000;

interface Asked {
  readonly cluster: string;
  readonly stackName: string;
  readonly parts: Observed<StackParts>;
}

/** Asks Lambda, EventBridge, EC2 and CloudWatch Logs. Changes nothing, and rejects for no missing answer. */
export async function observeLive({ cluster, stackName, parts }: Asked, ports: InstallationPorts): Promise<LiveFacts> {
  const { live, inspector, stacks } = ports;
  const { functions, eventSources, schedules, rules } = "value" in parts ? parts.value : partsOf([]);
  const looping = functions.filter(({ name }) => LOOPING.includes(name));
  const settings = await observed(stacks.metadata(stackName).then((found) => settingsOf(readDeployed(found, stackName))));
  const known = "value" in settings ? settings.value : undefined;
  const since = ports.now() - HOUR_MS;
  const invoked = async (functionName: string): Promise<number> => {
    const question = { namespace: "AWS/Lambda", name: "Invocations", statistic: "Sum", since } as const;
    const points = await inspector.metric({ ...question, dimensions: { FunctionName: functionName } });
    return points.reduce((sum, { value }) => sum + value, 0);
  };
  return {
    settings,
    recursiveLoops: await asked(looping, ({ functionName }) => live.recursiveLoop(functionName)),
    invocations: await asked(looping, ({ functionName }) => invoked(functionName)),
    reserved: await asked(functions, ({ functionName }) => live.reservedConcurrency(functionName)),
    sources: await asked(eventSources, ({ id }) => live.isSourceEnabled(id)),
    schedules: await asked(schedules.map(called), ({ name }) => inspector.isScheduleEnabled(name)),
    rules: await asked(rules.map(called), ({ name }) => live.isRuleEnabled(name)),
    network: known?.vpc === undefined ? { value: undefined } : await observed(live.network(known.vpc.subnetIds)),
    auditLog: await observed(auditLog(cluster, known, live)),
  };
}

const called = (name: string): { readonly name: string } => ({ name });
const settingsOf = (deployed: Deployed | undefined): DeploymentSettings | undefined => deployed?.settings;

const asked = <One extends { readonly name: string }, T>(all: readonly One[], ask: (one: One) => Promise<T>) =>
  Promise.all(all.map(async (one) => ({ ...one, is: await observed(ask(one)) })));

async function auditLog(
  cluster: string,
  settings: DeploymentSettings | undefined,
  { logGroupClass }: Pick<LiveSettings, "logGroupClass">,
): Promise<AuditGroup | undefined> {
  if (settings === undefined || !listensTo(cluster, settings)) return undefined;
  const group = auditGroupOf(cluster, settings);
  return { group, class: await logGroupClass(group) };
}
