// `cli doctor`: what is wrong with the installation of a cluster?
// In: a cluster or a context. Out: a line for each check, with the fix where something is wrong; exit code 0 when
// nothing is, else 1. It changes nothing, and must never print a secret.

import { DEFAULT_STACK } from "#terminal/arguments.ts";
import { defineCommand } from "#terminal/command.ts";
import { CHOICE } from "../account/choice.ts";

export const doctorCommand = defineCommand({
  name: "doctor",
  summary: "Examines an installation in an EKS cluster: what is wrong, where, and how to fix it; only reads",
  options: CHOICE,
  run: async ({ values }) => {
    const [{ doctor }, { chosenInstallation }] = await Promise.all([import("./doctor.ts"), import("../account/chosen-installation.ts")]);
    const { cluster, region, ports } = await chosenInstallation(values);
    return await doctor({ cluster, region, stackName: values.stack ?? DEFAULT_STACK, json: values.json }, ports);
  },
});
