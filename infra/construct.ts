// The construct for users' own CDK apps: the main export of a release. In: settings as in a settings file. Out: the
// functions' stack in the user's app, and a stack for each cluster of another account. Its types are made from the
// settings' schema (release/types.ts), so that what the package says is what it reads.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { Code } from "aws-cdk-lib/aws-lambda";
import { Construct } from "constructs";
import { VERSION } from "#settings/version.ts";
import { AccessStack } from "./access-stack.ts";
import { acknowledge } from "./acknowledged.ts";
import { DIST } from "./dist.ts";
import type { FunctionName } from "./functions.ts";
import { accessStackName } from "./role-names.ts";
import { parseSettings } from "./settings.ts";
import { AutoscalerStack } from "./stack.ts";

export { VERSION };

/** Settings of a deployment, and where it goes; release/types.ts has them key by key. */
export interface KarpenterServerlessProps extends Readonly<Record<string, unknown>> {
  readonly clusters: readonly (string | Readonly<Record<string, unknown>>)[];
  readonly env?: { readonly account?: string; readonly region?: string };
}

/**
 * An autoscaler for EKS clusters in an app of the CDK: `new KarpenterServerless(this, "Nodes", { clusters: ["prod"]
 * })`. It makes a stack of its own beside the app's. Throws one sentence about a wrong setting.
 */
export class KarpenterServerless extends Construct {
  /** The functions' stack, whose outputs say the rest. */
  readonly stack: AutoscalerStack;
  /** A stack for each cluster of another account, which is deployed there. */
  readonly accessStacks: readonly AccessStack[];

  constructor(scope: Construct, id: string, { clusters, env, ...rest }: KarpenterServerlessProps) {
    super(scope, id);
    const named = clusters.map((one) => (typeof one === "string" ? { name: one } : one));
    const place = { ...(env?.account !== undefined && { account: env.account }), ...(env?.region !== undefined && { region: env.region }) };
    const given = { ...rest, clusters: named, ...(place.region !== undefined && { region: place.region }) };
    const settings = parseSettings(given, this.node.path, (sentence) => {
      console.warn(sentence);
    });
    const { stackName } = settings;
    this.stack = new AutoscalerStack(this, "Stack", { settings, code: bundled, stackName, ...(env !== undefined && { env: place }) });
    const isOwn = ({ account }: (typeof settings.clusters)[number]): boolean => account === undefined;
    acknowledge(this.stack, settings, settings.clusters.filter(isOwn));
    this.accessStacks = settings.clusters
      .filter((cluster) => !isOwn(cluster))
      .map((cluster) => {
        const there = { ...place, ...(cluster.account !== undefined && { account: cluster.account }) };
        const name = accessStackName(stackName, cluster.name);
        const made = new AccessStack(this, name, { settings, cluster, stackName: name, ...(env !== undefined && { env: there }) });
        acknowledge(made, settings, [cluster]);
        return made;
      });
  }
}

/** The code of a function as the release has it. Throws one sentence in a checkout whose functions were not bundled. */
function bundled(name: FunctionName): Code {
  const folder = join(DIST, name);
  if (!existsSync(folder)) throw new Error(`${folder}: there is no bundle of ${name}; run npm run -s build first.`);
  return Code.fromAsset(folder);
}
