// `cli account-check`: is AWS what this product is built on, in this account?
// In: a region, and a subnet for one small machine. Out: a table and a report as JSON. It says beforehand what it makes
// and costs, asks, and removes all of it, also by --clean after it was killed. It must never touch what it has not
// made.

import { writeFileSync } from "node:fs";
import { defineCommand } from "#terminal/command.ts";
import { flag, text } from "#terminal/command-line.ts";
import { InputError } from "#terminal/input-error.ts";

export const accountCheckCommand = defineCommand({
  name: "account-check",
  summary: "Asks an AWS account what only AWS answers, within an hour and for cents; removes all that it makes",
  options: {
    region: text("REGION", "AWS region; AWS_REGION when absent"),
    subnet: text("SUBNET-ID", "where one small machine is launched for some minutes; none is without it"),
    out: text("FILE", "write the report as JSON"),
    yes: flag("do not ask before things are made"),
    "dry-run": flag("print the plan, the costs and the calls; ask and make nothing"),
    clean: flag("only remove what earlier runs have left"),
    run: text("ID", "with --clean: only of this run"),
    policy: flag("print the IAM policy with the rights that it needs"),
  },
  run: async ({ values }, print) => {
    const { region = process.env["AWS_REGION"] ?? process.env["AWS_DEFAULT_REGION"] ?? "", subnet, out, yes, run } = values;
    if (region === "") throw new InputError("say in which region: --region us-west-2, or set AWS_REGION");
    if (values.policy) {
      const { accountCheckPolicy } = await import("./policy.ts");
      return { output: `${JSON.stringify(accountCheckPolicy(region, "ACCOUNT"), undefined, 2)}\n` };
    }
    const [{ accountCheck, cleanAccount }, { checkPorts }] = await Promise.all([import("./run.ts"), import("./aws.ts")]);
    const ports = checkPorts(region);
    if (values.clean) return await cleanAccount(run, ports);
    const { answer, report } = await accountCheck({ region, subnet, yes, dryRun: values["dry-run"] }, ports, print);
    if (out !== undefined && report !== undefined) writeFileSync(out, `${JSON.stringify(report, undefined, 2)}\n`);
    return answer;
  },
});
