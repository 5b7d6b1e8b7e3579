import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { makeRelease } from "#infra/release/make-release.ts";
import { deployment } from "../e2e/arrange.ts";
import { CLUSTER, REGION } from "../e2e/stage.ts";
import { awsRequest } from "../e2e/support/aws-call.ts";
import type { TestCluster } from "../e2e/support/cluster.ts";
import { found } from "./installing.ts";
import { asNewcomer, inForm, nothingLeft, spoken } from "./newcomer.ts";

/**
 * A second cluster is added to a stack that runs, gets nodes, and is taken from it again, while the first one works:
 * the program as it is installed, an account model in front of MiniStack and the fake EC2, and two real control planes.
 * What the functions do in the second cluster is judged by the policies of the roles that they assume for it.
 * `node test/account/second-cluster.ts`. Prints a line for each check and "N passed, N failed".
 */

const OTHER = "other";
const STACK = "karpenter-serverless";
const WAIT = "--timeout=300s";
/** Every call by which a function is changed without CloudFormation. */
const CHANGES = /^lambda:(UpdateFunction|PutFunction|PublishVersion)/;

await asNewcomer(
  "second-cluster",
  12,
  async (newcomer) => {
    const { stage, account, urls, dir, check, type } = newcomer;
    const [other] = stage.others;
    if (other === undefined) throw new Error("there is no second cluster");
    const { fake } = stage;
    // The second cluster has a network of its own.
    for (const [i, subnet] of [...fake.state.subnets.values()].entries()) {
      const tags = new Map([["karpenter.sh/discovery", OTHER]]);
      const own = { ...subnet, id: `${subnet.id.slice(0, -4)}0000`, cidr: `10.${100 + i}.0.0/19`, tags, used: new Set<number>() };
      fake.state.subnets.set(own.id, own);
    }
    const [group] = fake.state.securityGroups.values();
    if (group !== undefined)
      fake.state.securityGroups.set("sg-0other", {
        ...group,
        id: "sg-0other",
        name: OTHER,
        tags: new Map([["karpenter.sh/discovery", OTHER]]),
      });

    const program = (words: string): Promise<string> => type(`npx karpenter-serverless ${words} --region ${REGION}`);
    const run = async (cluster: TestCluster, replicas: number): Promise<string> => {
      await cluster.kubectl("create", "namespace", "shop").catch(() => {});
      await cluster.kubectl("apply", "-n", "shop", "-f", "-", { input: JSON.stringify(deployment("web", replicas)) });
      await cluster.kubectl("wait", "-n", "shop", "--for=condition=Available", "deployment/web", WAIT);
      return cluster.kubectl("get", "pods,nodeclaims", "-n", "shop", "--no-headers");
    };
    /** What a change of a function would change. */
    const functions = async (): Promise<string> => {
      const text = await awsRequest(account.ministack, "lambda", { method: "GET", path: "/2015-03-31/functions/" });
      const { Functions } = JSON.parse(text) as { readonly Functions: readonly Readonly<Record<string, unknown>>[] };
      return JSON.stringify(
        Functions.map((one) => [one["FunctionName"], one["CodeSha256"], one["LastModified"], one["Environment"], one["Role"]]),
      );
    };
    const nodesOf = async (cluster: TestCluster): Promise<string> =>
      (await cluster.kubectl("get", "nodes", "-o", "jsonpath={.items[*].metadata.uid}")).split(" ").sort().join(" ");
    const tagged = (cluster: string) =>
      [...fake.state.instances.values()].filter(
        ({ state, tags }) => state !== "terminated" && tags.get("eks:eks-cluster-name") === cluster,
      );

    const [tarball = ""] = await makeRelease(join(dir, "release"));
    await check("the tarball installs in an empty folder", () => type(`npm i --silent --no-audit --no-fund --offline ${tarball}`));
    await check("install makes a stack for the first cluster, whose first pod runs", async () => {
      await program(`install --cluster ${CLUSTER} --create-node-role --with-default-pool --config settings.json`);
      return run(stage.cluster, 1);
    });
    const before = {
      functions: await functions(),
      nodes: await nodesOf(stage.cluster),
      calls: account.calls.length,
      orders: account.orders.length,
    };
    const unchanged = async (): Promise<string> => {
      const changes = account.calls.slice(before.calls).filter((call) => CHANGES.test(call));
      const orders = account.orders.slice(before.orders).filter((order) => !order.endsWith(` ${STACK}-access-${OTHER}`));
      if (changes.length + orders.length > 0) throw new Error([...changes, ...orders].join(", "));
      if ((await functions()) !== before.functions)
        throw new Error(`functions are not what they were:\n${before.functions}\n${await functions()}`);
      if ((await nodesOf(stage.cluster)) !== before.nodes) throw new Error("the first cluster has other nodes than before");
      const own = account.orders.slice(before.orders);
      return `${account.calls.length - before.calls} calls; stacks: ${own.join(", ")}; no function was changed`;
    };

    await check("a dry run says how the second cluster would be added", async () => {
      const said = await program(`install --cluster ${OTHER} --create-node-role --with-default-pool --dry-run`);
      if (!said.includes(`write ${OTHER} into the table of ${STACK}`)) throw new Error(said);
      return spoken(said);
    });
    await check("install adds it to the stack that runs", async () =>
      spoken(await program(`install --cluster ${OTHER} --create-node-role --with-default-pool`)),
    );
    await check("its pod gets a node, by the webhook and the roles that were made for it", async () => {
      const called = urls.answers.length;
      const pods = await run(other, 1);
      const refused = urls.answers.slice(called).filter((status) => status !== 200);
      if (urls.answers.length === called || refused.length > 0) throw new Error(`the webhook was answered: ${refused.join(", ")}`);
      const roles = account.assumedRoles.filter((arn) => arn.includes(`/karpenter-serverless/${STACK}/`));
      if (roles.length !== 2) throw new Error(`assumed were ${roles.join(", ")}`);
      if (tagged(OTHER).length === 0) throw new Error("no instance carries its tag");
      return pods;
    });
    await check("no function and no stack of the first cluster was changed, and its node is the same", unchanged);
    await check("status and doctor find no fault in either", async () => {
      const said: string[] = [];
      for (const cluster of [CLUSTER, OTHER])
        said.push(await program(`status --cluster ${cluster}`), await program(`doctor --cluster ${cluster}`));
      if (!said.join("").includes(`its place in the stack: it was added, by stack ${STACK}-access-${OTHER}`))
        throw new Error(said.join("\n"));
      return said.map(spoken).join("\n");
    });
    await check("install of the same cluster again changes nothing", async () => {
      const said = await program(`install --cluster ${OTHER} --with-default-pool`);
      if (!said.includes("nothing is to be updated")) throw new Error(said);
      return unchanged();
    });
    await check("uninstall takes the second cluster from the stack", async () =>
      spoken(await program(`uninstall --cluster ${OTHER} --drain`)),
    );
    await check("nothing is left of it, and the first cluster has not changed", async () => {
      const { stacks, roles } = await found(account);
      const left: Readonly<Record<string, readonly unknown[]>> = {
        stacks: stacks.filter((name) => name.includes(OTHER)),
        roles: roles.filter((name) => name.includes(OTHER)),
        accessEntries: account.ministack.accessEntries().filter(({ clusterName }) => clusterName === OTHER),
        instances: tagged(OTHER),
        launchTemplates: [...fake.state.launchTemplates.values()].filter(({ tags }) => tags.get("eks:eks-cluster-name") === OTHER),
        instanceProfiles: [...fake.state.instanceProfiles.values()].filter(({ path }) => path.includes(`/${OTHER}/`)),
        objects: (await other.kubectl("get", "nodepools,nodeclaims,ec2nodeclasses,nodes", "-o", "name"))
          .split("\n")
          .filter((name) => name !== ""),
        webhooks: (await other.kubectl("get", "validatingwebhookconfigurations,clusterroles", "-o", "name"))
          .split("\n")
          .filter((name) => name.includes("karpenter-serverless")),
      };
      const remains = Object.entries(left).filter(([, names]) => names.length > 0);
      if (remains.length > 0) throw new Error(JSON.stringify(Object.fromEntries(remains)).slice(0, 2_000));
      return `${await unchanged()}; looked for ${Object.keys(left).join(", ")}`;
    });
    await check("a minute later no function tries to reach it", async () => {
      await sleep(5_000);
      const at = account.calls.length;
      await sleep(15_000);
      const asked = account.calls.slice(at).filter((call) => call === "sts:AssumeRole");
      if (asked.length > 0) throw new Error(`${asked.length} calls of AssumeRole`);
      const said = await program(`status --cluster ${CLUSTER}`);
      return spoken(said);
    });
    await check("the first cluster still gets nodes", async () => {
      await stage.cluster.kubectl("delete", "-n", "shop", "deployment/web");
      return run(stage.cluster, 2);
    });
    await check("AWS refused nothing that the functions have asked for", async () => {
      const refusals = account.refusals.filter((one) => !one.includes("Installer/me"));
      if (refusals.length > 0) throw new Error(refusals.slice(0, 10).join("\n"));
      return `${account.assumedRoles.length} roles were assumed`;
    });
    await check("uninstall of the first one takes the stack, and nothing is left", async () => {
      await program(`uninstall --cluster ${CLUSTER} --drain`);
      return nothingLeft(newcomer);
    });
    await check("every call has the form that AWS's own service models describe", () => inForm(account));
  },
  [OTHER],
);
