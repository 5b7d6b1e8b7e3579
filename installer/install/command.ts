// `cli install`: from an AWS account and an EKS cluster to an autoscaler that works, in one command.
// In: a cluster and settings. Out: a line for each check and step. It changes the account and the cluster only when all
// checks pass, does what is missing, and can be run again at any point. It must never print a secret.

import { SYNTH_OPTIONS } from "#infra/synth-options.ts";
import { PROGRAM } from "#settings/program.ts";
import { type Answer, defineCommand } from "#terminal/command.ts";
import { flag } from "#terminal/command-line.ts";
import { InputError } from "#terminal/input-error.ts";
import { ADOPT_OPTIONS } from "../migrate/options.ts";

const { config, sources, stack, admission, "public-url": publicUrl } = SYNTH_OPTIONS;

export const installCommand = defineCommand({
  name: "install",
  summary: "Installs into an EKS cluster: checks first, then the stack, CRDs, RBAC and webhooks; safe to run again",
  options: {
    cluster: { type: "text", value: "NAME", description: "name of the EKS cluster", isRequired: true },
    region: { type: "text", value: "REGION", description: "AWS region of the cluster; AWS_REGION when absent" },
    stack,
    sources,
    "public-url": {
      ...publicUrl,
      description: "functionUrl, apiGateway, restApi or none (the first that the region and the account allow)",
    },
    admission,
    "create-node-role": flag("make the role KarpenterNodeRole-NAME, and its access to the cluster"),
    "tag-network": flag("tag the cluster's subnets and security group karpenter.sh/discovery=NAME, where none has the tag"),
    "with-default-pool": flag("make a NodePool and an EC2NodeClass named default, where there are none"),
    config,
    "from-karpenter": flag("take Karpenter's settings and node roles, then its nodes, as the command adopt does"),
    ...ADOPT_OPTIONS,
    "dry-run": flag("say what is missing and what would be done; change nothing"),
  },
  run: async ({ values }, print) => {
    const [{ install }, { examined }, { awsPorts }, { settingsFor }, { BadInput }] = await Promise.all([
      import("./install.ts"),
      import("../checks/examined.ts"),
      import("../account/aws-ports.ts"),
      import("./settings-for.ts"),
      import("#infra/end-with.ts"),
    ]);
    const { cluster, region = process.env["AWS_REGION"] ?? process.env["AWS_DEFAULT_REGION"] ?? "" } = values;
    if (region === "") throw new InputError("say in which region the cluster is: --region us-west-2, or set AWS_REGION");
    try {
      const ports = awsPorts(region);
      const { "with-default-pool": withDefaultPool, "dry-run": dryRun, "from-karpenter": fromKarpenter } = values;
      const tagNetwork = values["tag-network"];
      const { deployment, "keep-deployment": keepDeployment } = values;
      const hasEndpointOption = [values.config, values.sources, values["public-url"]].some((value) => value !== undefined);
      const given = settingsFor(values, region);
      const withDoctor = async (answer: Answer): Promise<Answer> => {
        if (dryRun) return answer;
        const isHealthy = await examined({ cluster, region, stackName: given.stackName }, ports, print);
        if (isHealthy) return answer;
        const mend = `it is installed, but not everything works yet; fix the items marked FAULT above, then run ${PROGRAM} doctor --cluster ${cluster}`;
        return { ...answer, isUsable: false, messages: [...(answer.messages ?? []), mend] };
      };
      if (!fromKarpenter)
        return await withDoctor(
          await install({ cluster, region, settings: given, hasEndpointOption, tagNetwork, withDefaultPool, dryRun }, ports, print),
        );
      const [{ readKarpenter, withKarpenters }, { adopt, refuseEarly }] = await Promise.all([
        import("../migrate/from-karpenter.ts"),
        import("../migrate/adopt.ts"),
      ]);
      const settings = withKarpenters(given, cluster, await readKarpenter(ports.clusterApi(cluster), cluster, deployment));
      const options = { cluster, stackName: settings.stackName, deployment, keepDeployment, dryRun, installs: true };
      if (!dryRun) await refuseEarly(options, ports);
      const installed = await install({ cluster, region, settings, hasEndpointOption, tagNetwork, withDefaultPool, dryRun }, ports, print);
      const adopted = await adopt(options, ports, print);
      const messages = [...(installed.messages ?? []), ...(adopted.messages ?? [])];
      return await withDoctor({ ...adopted, messages, isUsable: installed.isUsable !== false && adopted.isUsable !== false });
    } catch (error) {
      if (error instanceof BadInput) throw new InputError(error.message);
      throw error instanceof Error && !(error instanceof InputError)
        ? new InputError(`${error.message.replace(/\.$/, "")}; fix that, then run the command again, which continues where it ended`)
        : error;
    }
  },
});
