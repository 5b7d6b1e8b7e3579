import { join } from "node:path";
import { parseArgs } from "node:util";
import { makeRelease } from "#infra/release/make-release.ts";
import { deployment } from "../e2e/arrange.ts";
import { CLUSTER, REGION } from "../e2e/stage.ts";
import { asNewcomer, inForm, nothingLeft, spoken } from "./newcomer.ts";

/**
 * From an empty folder with the tarball only to the first pod that runs, and out again: the program as it is installed,
 * an account model in front of MiniStack and the fake EC2, a real control plane that calls the functions' URL.
 * `node test/account/first-node.ts [--again]`. Prints a line for each check and "N passed, N failed".
 *
 * With --again it is installed once more; then EKS deletes the cluster, and what is left of it is removed.
 */
const { values } = parseArgs({ options: { again: { type: "boolean", default: false } } });

await asNewcomer("first-node", 12, async (newcomer) => {
  const { stage, account, urls, dir, home, check, type } = newcomer;
  // Nothing is prepared, also not in the network.
  const { subnets, securityGroups } = stage.fake.state;
  for (const { tags } of [...subnets.values(), ...securityGroups.values()]) tags.delete("karpenter.sh/discovery");
  const [tarball = ""] = await makeRelease(join(dir, "release"));
  await check("the tarball installs in an empty folder", () => type(`npm i --silent --no-audit --no-fund --offline ${tarball}`));
  await check("install makes everything in an account with nothing prepared", async () =>
    spoken(
      await type(
        `npx karpenter-serverless install --cluster ${CLUSTER} --region ${REGION} --create-node-role --tag-network --with-default-pool --config settings.json`,
      ),
    ),
  );
  await check("the first pod runs", async () => {
    await stage.cluster.kubectl("create", "namespace", "shop");
    await stage.cluster.kubectl("apply", "-n", "shop", "-f", "-", { input: JSON.stringify(deployment("web", 1)) });
    await stage.cluster.kubectl("wait", "-n", "shop", "--for=condition=Available", "deployment/web", "--timeout=300s");
    return stage.cluster.kubectl("get", "pods,nodeclaims", "-n", "shop", "--no-headers");
  });
  await check("the API server calls the functions' URL with the cluster's own secret", async () => {
    const refused = urls.answers.filter((status) => status !== 200);
    if (urls.answers.length === 0 || refused.length > 0)
      throw new Error(`of ${urls.answers.length} calls, answered: ${refused.join(", ")}`);
    return `${urls.answers.length} calls, each answered with 200`;
  });
  await check("status and doctor find no fault, and manifests has what the cluster has", async () => {
    const said = [
      await type(`npx karpenter-serverless status --cluster ${CLUSTER} --region ${REGION}`),
      await type(`npx karpenter-serverless doctor --cluster ${CLUSTER} --region ${REGION}`),
    ];
    await type(`npx karpenter-serverless manifests --cluster ${CLUSTER} --stack karpenter-serverless --region ${REGION} > manifests.yaml`);
    const changed = await stage.cluster.kubectl("diff", "--server-side", "--force-conflicts", "-f", join(home, "manifests.yaml"));
    if (changed !== "") throw new Error(changed.slice(0, 2_000));
    return said.map(spoken).join("\n");
  });
  await check("uninstall takes all of it out again", async () =>
    spoken(await type(`npx karpenter-serverless uninstall --cluster ${CLUSTER} --region ${REGION} --drain`)),
  );
  await check("nothing is left but the table, the bucket and the CRDs", () => nothingLeft(newcomer));
  if (values.again) {
    await check("install makes everything again, and the pod that waits gets a node", async () => {
      const text = spoken(
        await type(
          `npx karpenter-serverless install --cluster ${CLUSTER} --region ${REGION} --create-node-role --with-default-pool --config settings.json`,
        ),
      );
      await stage.cluster.kubectl("wait", "-n", "shop", "--for=condition=Available", "deployment/web", "--timeout=300s");
      return text;
    });
    account.settings = { ...account.settings, clusters: {} };
    await stage.cluster.stop();
    await check("EKS deletes the cluster, and uninstall removes what is left of it", async () =>
      type(`npx karpenter-serverless uninstall --cluster ${CLUSTER} --region ${REGION} --yes`),
    );
    await check("nothing is left in the account but the bucket and the first table", () => nothingLeft(newcomer, false));
  }
  await check("every call has the form that AWS's own service models describe, those of the functions too", () => inForm(account));
});
