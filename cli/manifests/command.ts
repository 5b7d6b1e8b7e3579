import { text } from "#terminal/command-line.ts";

// `cli manifests`: prints what a cluster needs before the functions can work in it, for `kubectl apply -f -`.
// In: the cluster's name, and the deployed stack or the URLs that API servers call. Out: YAML documents (CRDs, RBAC,
// FlowSchema, webhooks). It reads the stack and its secrets, and must write nothing.

import { DEFAULT_STACK } from "#terminal/arguments.ts";
import { defineCommand } from "#terminal/command.ts";
import { InputError } from "#terminal/input-error.ts";

export const manifestsCommand = defineCommand({
  name: "manifests",
  summary: "Prints the CRDs, RBAC and webhooks of a cluster, for kubectl apply -f -",
  options: {
    cluster: { type: "text", value: "NAME", description: "name of the EKS cluster", isRequired: true },
    stack: text("NAME", `the deployed stack (${DEFAULT_STACK}), from which the webhooks' URLs and tokens are read; no webhook without it`),
    region: text("REGION", "AWS region of the stack; AWS_REGION when absent"),
    "notify-url": text("URL", "the notify function's URL (stack output NotifyUrl), in place of --stack"),
    "notify-token": text(
      "TOKEN",
      "the secret of its tokens; the variable NOTIFY_TOKEN when absent, which keeps it out of the shell's history",
    ),
    "admission-url": text("URL", "the admission function's URL (stack output AdmissionUrl), in place of --stack"),
    "admission-token": text("TOKEN", "the secret of its tokens; the variable ADMISSION_TOKEN when absent"),
    "ca-bundle": text("BASE64", "the authority of the URLs' certificates, PEM in base64; for URLs that are not publicly signed"),
  },
  run: async ({ values }) => {
    const [{ manifests, checkTokens }, { webhooksOf }, { BadInput }] = await Promise.all([
      import("#infra/manifests.ts"),
      import("#infra/stack-webhooks.ts"),
      import("#infra/end-with.ts"),
    ]);
    const { cluster, stack, "notify-url": notifyUrl, "admission-url": admissionUrl, "ca-bundle": caBundle } = values;
    const { region = process.env["AWS_REGION"] ?? process.env["AWS_DEFAULT_REGION"] ?? "" } = values;
    if (stack !== undefined && region === "")
      throw new InputError("say in which region the stack is: --region us-west-2, or set AWS_REGION");
    const {
      "notify-token": notifyToken = process.env["NOTIFY_TOKEN"],
      "admission-token": admissionToken = process.env["ADMISSION_TOKEN"],
    } = values;
    try {
      if (stack === undefined) checkTokens(values);
      const output = manifests({
        cluster,
        ...(stack !== undefined && (await webhooksOf(stack, region))),
        ...(notifyUrl !== undefined && { notifyUrl }),
        ...(notifyToken !== undefined && { notifyToken }),
        ...(admissionUrl !== undefined && { admissionUrl }),
        ...(admissionToken !== undefined && { admissionToken }),
        ...(caBundle !== undefined && { caBundle }),
      });
      return { output };
    } catch (error) {
      throw error instanceof BadInput ? new InputError(error.message) : error;
    }
  },
});
