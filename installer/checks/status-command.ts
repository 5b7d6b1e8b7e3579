// `cli status`: is the autoscaler of a cluster working?
// In: a cluster or a context. Out: one screen, exit code 0 when it works and 1 when it does not. It changes nothing,
// and must never print a secret.

import { DEFAULT_STACK } from "#terminal/arguments.ts";
import { defineCommand } from "#terminal/command.ts";
import { CHOICE } from "../account/choice.ts";

export const statusCommand = defineCommand({
  name: "status",
  summary: "Says whether the autoscaler of an EKS cluster works, on one screen; only reads",
  options: CHOICE,
  run: async ({ values }) => {
    const [{ status }, { chosenInstallation }] = await Promise.all([import("./status.ts"), import("../account/chosen-installation.ts")]);
    const { cluster, region, ports } = await chosenInstallation(values);
    return await status({ cluster, region, stackName: values.stack ?? DEFAULT_STACK, json: values.json }, ports);
  },
});
