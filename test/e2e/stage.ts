import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { bundledCatalogue } from "#adapters/catalogue/bundled.ts";
import { formatResources } from "#core/model/quantity.ts";
import { instanceTypesOf } from "#core/offerings/instance-types.ts";
import { allocatableOf } from "#core/offerings/overhead.ts";
import { startCloudController } from "./cloud-controller.ts";
import { regionCatalogue } from "./fake-aws/bundled-catalogue.ts";
import { type FakeAws, startFakeAws } from "./fake-aws/fake-aws.ts";
import type { FakeAwsOptions } from "./fake-aws/options.ts";
import type { FakeInstance } from "./fake-aws/world.ts";
import { startCluster, type TestCluster } from "./support/cluster.ts";

// A cluster without an autoscaler: a control plane, the fake EC2, and machines that boot when EC2 launches them.

export const CLUSTER = "e2e";
export const REGION = "us-west-2";
export const ACCOUNT = "111122223333";
/** The tag that names an instance's cluster. */
const CLUSTER_TAG = "eks:eks-cluster-name";

export interface Stage {
  readonly cluster: TestCluster;
  /** Further clusters of the account. */
  readonly others: readonly TestCluster[];
  readonly fake: FakeAws;
  readonly dataDir: string;
  /** Instance id → why the instance could not boot, for example wrong user data. */
  readonly bootFailures: Map<string, string>;
  stop(): Promise<void>;
}

export interface StageOptions {
  /** The folder of logs and data; it exists. */
  readonly dataDir: string;
  readonly aws: Omit<FakeAwsOptions, "catalogue" | "cluster" | "otherClusters" | "onRunning" | "onTerminated">;
  /** Names of further clusters in the account, in the same subnets. */
  readonly others?: readonly string[];
  /** From `running` until the machine reads its user data. Default 0. */
  readonly bootMs?: number;
  /** A Go duration from the registration of a node until it is Ready. */
  readonly readyAfter: string;
  /** Further flags of the control plane. */
  readonly clusterArgs?: readonly string[];
  /** Further variables of the control plane. */
  readonly clusterEnv?: Readonly<Record<string, string>>;
}

export async function startStage(options: StageOptions): Promise<Stage> {
  const { dataDir, aws, others: names = [], clusterArgs = [], clusterEnv = {} } = options;
  const bootFailures = new Map<string, string>();
  const clusters = new Map<string, TestCluster>();
  const clusterOf = ({ tags }: FakeInstance): TestCluster | undefined => clusters.get(tags.get(CLUSTER_TAG) ?? CLUSTER);
  const described = { version: "1.36", serviceCidr: "10.96.0.0/16" };
  const otherClusters = names.map((name) => ({ name, ...described, endpoint: "", caData: "" }));
  const fake = await startFakeAws({
    ...aws,
    ...{ catalogue: regionCatalogue(REGION), otherClusters },
    cluster: { name: CLUSTER, ...described },
    onRunning: bootstrap(options, bootFailures, clusterOf),
    onTerminated: async (instance) => {
      await clusterOf(instance)
        ?.halt({ providerID: `aws:///${instance.zone}/${instance.id}` })
        .catch(() => {});
    },
  });
  const startOne = async (clusterName: string, folder: string): Promise<TestCluster> => {
    const started = await startCluster({ dataDir: join(dataDir, folder), clusterName, args: clusterArgs, env: clusterEnv });
    clusters.set(clusterName, started);
    const facts = [fake.cluster, ...otherClusters].find(({ name }) => name === clusterName);
    Object.assign(facts ?? {}, { endpoint: started.server, caData: started.caData });
    return started;
  };
  const running = await startOne(CLUSTER, "cluster");
  const others: TestCluster[] = [];
  for (const name of names) others.push(await startOne(name, `cluster-${name}`));
  const stopWatching = [...clusters.values()].map((cluster) =>
    startCloudController({
      ...{ cluster, now: () => fake.state.clock.now() },
      instances: () => [...fake.state.instances.values()].filter((instance) => clusterOf(instance) === cluster),
    }),
  );
  return {
    ...{ cluster: running, others, fake, dataDir, bootFailures },
    async stop() {
      for (const stop of stopWatching) stop();
      const stopped = await Promise.allSettled([running.stop(), ...others.map((other) => other.stop()), fake.close()]);
      for (const outcome of stopped) if (outcome.status === "rejected") throw outcome.reason;
    },
  };
}

/** Boots an instance that becomes running: it reads its user data and joins with the resources of its type. */
function bootstrap(
  { bootMs = 0, readyAfter }: StageOptions,
  failures: Map<string, string>,
  clusterOf: (instance: FakeInstance) => TestCluster | undefined,
): (instance: FakeInstance) => Promise<void> {
  const catalogue = bundledCatalogue(REGION);
  const zones = catalogue.zones.map(({ name, zoneId }) => ({ id: name, zone: name, zoneID: zoneId }));
  const nodeClass = {
    spec: { amiSelectorTerms: [{ alias: "al2023@latest" }], subnetSelectorTerms: [], securityGroupSelectorTerms: [] },
    status: { subnets: zones },
  };
  const types = new Map(
    instanceTypesOf({ catalogue, nodeClass, unavailable: [], settings: { vmMemoryOverheadPercent: 0.075, reservedEnis: 0 } }).map(
      (type) => [type.name, type],
    ),
  );
  return async (instance) => {
    const type = types.get(instance.instanceType);
    if (type === undefined) {
      failures.set(instance.id, `nobody knows what a ${instance.instanceType} has`);
      return;
    }
    const allocatable = formatResources(allocatableOf(type));
    const tryToJoin = async (): Promise<unknown> =>
      clusterOf(instance)?.boot({
        instanceId: instance.id,
        zone: instance.zone,
        region: REGION,
        instanceType: instance.instanceType,
        architecture: type.requirements.some(({ key, values }) => key === "kubernetes.io/arch" && values?.includes("arm64"))
          ? "arm64"
          : "amd64",
        capacity: withoutZeros(type.capacity),
        allocatable: withoutZeros(allocatable),
        privateDnsName: instance.privateDnsName,
        userData: instance.userData,
        readyAfter,
      });
    await sleep(bootMs, undefined, { ref: false });
    // A kubelet retries while its instance runs, because its name may still belong to the Node of an instance with the
    // same address.
    while (instance.state === "running") {
      try {
        await tryToJoin();
        failures.delete(instance.id);
        return;
      } catch (error) {
        failures.set(instance.id, error instanceof Error ? error.message : String(error));
      }
      await sleep(2_000, undefined, { ref: false });
    }
  };
}

function withoutZeros(list: Readonly<Record<string, string | number>>): Record<string, string> {
  return Object.fromEntries(Object.entries(list).flatMap(([name, value]) => (String(value) === "0" ? [] : [[name, String(value)]])));
}
