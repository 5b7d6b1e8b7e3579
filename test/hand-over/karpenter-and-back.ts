import { setTimeout as sleep } from "node:timers/promises";
import { CLAIM_UID_TAG } from "#core/model/tags.ts";
import { apply, deployment, PATIENTLY } from "../e2e/arrange.ts";
import { list } from "../e2e/observe.ts";
import { CLUSTER } from "../e2e/stage.ts";
import { CLASS, pool } from "../versus/courses/objects.ts";
import { type Account, unlessDoctorAsksMore } from "./account.ts";
import type { Check } from "./check.ts";
import { installKarpenter } from "./karpenter-deployment.ts";
import { alive, goesOn, podsIn, type Seen, sameAs, see, settled, unmarked } from "./seen.ts";

const OURS = "karpenter-serverless/";
const HASH_VERSION = "karpenter.k8s.aws/ec2nodeclass-hash-version";

/**
 * The real Karpenter hands its nodes to the functions and gets them back. After each hand-over a new pod needs a
 * machine and an old machine gets empty, one that the other had launched.
 */
export async function karpenterAndBack({ stage, run, kill, config }: Account, check: Check): Promise<void> {
  const scale = (replicas: number): Promise<string> => stage.cluster.kubectl("scale", "deployment/apart", `--replicas=${replicas}`);
  /** Takes the pod off one of these machines: that pod is the one that the Deployment gives up. */
  const emptyOne = async (ids: readonly string[]): Promise<void> => {
    const node = (await list(stage, "nodes")).find(({ spec }) => ids.some((id) => spec.providerID?.endsWith(id)));
    const pod = (await podsIn(stage)).find(({ spec }) => spec.nodeName === node?.metadata.name);
    if (pod === undefined) throw new Error(`no pod is on ${ids.join(", ") || "any of none"}`);
    await stage.cluster.kubectl("annotate", "pod", pod.metadata.name, "controller.kubernetes.io/pod-deletion-cost=-1000");
    await scale(3);
  };
  const machines = (ofFunctions: boolean): readonly string[] =>
    alive(stage)
      .filter(({ tags }) => tags.has(CLAIM_UID_TAG) === ofFunctions)
      .map(({ id }) => id);
  let before: Seen = { machines: [], pods: new Map() };
  const unchanged = async (): Promise<void> => {
    sameAs(before, await see(stage));
    await unmarked(stage);
  };
  const grows = async (): Promise<void> => {
    await scale(4);
    const after = await settled(stage, 4);
    goesOn(before, after);
    before = after;
  };

  const karpenter = await installKarpenter(stage);
  try {
    await apply(stage, CLASS, pool("default", { policy: "WhenEmpty", consolidateAfter: "5s" }));
    await stage.cluster.kubectl("wait", "--for=condition=Ready", "nodepool", "--all", PATIENTLY);
    await check("Karpenter launches a machine for each of 3 pods", async () => {
      await apply(stage, deployment("apart", 3, { apart: true }));
      before = await settled(stage, 3);
    });
    await check("install --from-karpenter, killed when Karpenter has ended and repeated, takes the nodes over", async () => {
      const args = ["install", "--cluster", CLUSTER, "--config", config, "--from-karpenter"];
      await kill("scaled Deployment", args);
      await run(args).catch(unlessDoctorAsksMore);
    });
    await check("adopt by itself finds nothing that is left to take over", async () => {
      const said = await run(["adopt", "--cluster", CLUSTER]);
      if (!said.includes("wrote the records of 0 NodeClaims")) throw new Error(said);
    });
    await check("no machine was replaced, no pod moved, and no node is marked", unchanged);
    await check("a new pod gets a machine from the functions, and the others stay", grows);
    await check("a machine that is empty goes, one of Karpenter's", async () => {
      await emptyOne(machines(false));
      before = await settled(stage, 3);
    });
    await check("uninstall --keep-nodes --start-karpenter, killed in the middle and repeated, gives the nodes back", async () => {
      const args = ["uninstall", "--cluster", CLUSTER, "--keep-nodes", "--start-karpenter"];
      await kill("the functions have no rights", args);
      await run(args);
    });
    await check("no machine was replaced, no pod moved, no node is marked, and nothing of the functions is left on it", async () => {
      await unchanged();
      const left = [...(await list(stage, "nodeclaims")), ...(await list(stage, "nodes"))].flatMap(({ metadata }) =>
        Object.keys({ ...metadata.annotations, ...metadata.labels }).filter((key) => key.startsWith(OURS)),
      );
      if (left.length > 0) throw new Error(`NodeClaims or nodes have ${[...new Set(left)].join(", ")}`);
    });
    await check("a new pod gets a machine from Karpenter, and the others stay", grows);
    await check("a machine that is empty goes, one of the functions'", async () => {
      await emptyOne(machines(true));
      before = await settled(stage, 3);
    });
    await check("half a minute later all is as it was, and all hashes are Karpenter's", async () => {
      await sleep(30_000);
      await unchanged();
      const versions = new Set((await list(stage, "nodeclaims")).map(({ metadata }) => metadata.annotations?.[HASH_VERSION] ?? "none"));
      if (versions.size !== 1 || [...versions].some((version) => version === "none" || version.startsWith(OURS)))
        throw new Error(`the NodeClaims have hashes of the versions ${[...versions].join(", ")}`);
    });
  } finally {
    await karpenter.stop();
  }
}
