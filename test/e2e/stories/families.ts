import { NODE_CLASS } from "#core/model/labels.ts";
import { apply, nodeClaim, nodeClass, PATIENTLY } from "../arrange.ts";
import { ownImage } from "../fake-aws/images.ts";
import { alive, gone, initialized, LONG, list } from "../observe.ts";
import { expect } from "../report.ts";
import { CLUSTER, REGION } from "../stage.ts";
import { eventually } from "../support/wait.ts";
import type { E2eWorld } from "../world.ts";

// Every AMI family, each with its own EC2NodeClass.

const TEAM = { team: "e2e" };
const AL2_IMAGE = ownImage({ name: "our-al2", architecture: "x86_64" }, "111122223333");
const CUSTOM_IMAGE = ownImage({ name: "our-own", architecture: "x86_64", tags: TEAM }, "111122223333");

interface Family {
  readonly spec: object;
  readonly os?: "windows";
  readonly image: RegExp;
  readonly userData: RegExp;
  /** Device names of the family's volumes. */
  readonly disks: string;
}

/**
 * The families by the name of their EC2NodeClass. AL2 has no alias for this Kubernetes version, so its image is
 * selected by id; the custom image by a tag.
 */
const FAMILIES: Readonly<Record<string, Family>> = {
  al2: {
    spec: { amiFamily: "AL2", amiSelectorTerms: [{ id: AL2_IMAGE.id }] },
    image: /^our-al2$/,
    userData: /^\/etc\/eks\/bootstrap\.sh /m,
    disks: "/dev/xvda",
  },
  al2023: {
    spec: { amiSelectorTerms: [{ alias: "al2023@latest" }] },
    image: /^amazon-eks-node-al2023-x86_64-standard-/,
    userData: /^Content-Type: application\/node\.eks\.aws/m,
    disks: "/dev/xvda",
  },
  bottlerocket: {
    spec: { amiSelectorTerms: [{ alias: "bottlerocket@latest" }] },
    image: /^bottlerocket-aws-k8s-/,
    userData: /^\[settings\.kubernetes\]/m,
    disks: "/dev/xvda /dev/xvdb",
  },
  windows2022: {
    spec: { amiSelectorTerms: [{ alias: "windows2022@latest" }] },
    os: "windows",
    image: /^Windows_Server-2022-English-Core-EKS_Optimized-/,
    userData: /^<powershell>[\s\S]*-EKSClusterName/,
    disks: "/dev/sda1",
  },
  custom: {
    spec: { amiFamily: "Custom", amiSelectorTerms: [{ tags: TEAM }] },
    image: /^our-own$/,
    userData: /^apiVersion: node\.eks\.aws\/v1alpha1\nkind: NodeConfig\n# written by hand\n/,
    disks: "",
  },
};

/** With Custom the user writes all user data, including the taint of an unregistered node. */
const ownUserData = ({ cluster }: E2eWorld): string => `apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
# written by hand
spec:
  cluster:
    name: ${CLUSTER}
    apiServerEndpoint: ${cluster.server}
    certificateAuthority: ${cluster.caData}
    cidr: 10.96.0.0/16
  kubelet:
    config:
      registerWithTaints: [{ key: karpenter.sh/unregistered, effect: NoExecute }]
`;

const CLASSES = Object.keys(FAMILIES);

/** The instance profiles of this story's EC2NodeClasses. */
const profiles = ({ fake }: E2eWorld) =>
  [...fake.state.instanceProfiles.values()].filter(({ tags }) => CLASSES.includes(tags.get(NODE_CLASS) ?? ""));

/** Creates the EC2NodeClasses and waits until they are ready. */
export async function makeClasses(world: E2eWorld): Promise<void> {
  const { images } = world.fake.state;
  for (const image of [AL2_IMAGE, CUSTOM_IMAGE]) images.set(image.id, image);
  const userData = { custom: { userData: ownUserData(world) } } as Readonly<Record<string, object>>;
  await apply(world, ...Object.entries(FAMILIES).map(([name, { spec }]) => nodeClass(name, { ...spec, ...userData[name] })));
  await world.cluster.kubectl("wait", "--for=condition=Ready", "ec2nodeclass", ...CLASSES, PATIENTLY);
  const made = profiles(world).map(
    ({ path, role, tags }) => `${tags.get(NODE_CLASS)} ${role} ${path.startsWith(`/karpenter/${REGION}/${CLUSTER}/`)}`,
  );
  const wanted = CLASSES.map((name) => `${name} KarpenterNodeRole-${CLUSTER} true`);
  expect(made.sort().join() === wanted.sort().join(), () => made.join() || "no instance profile");
}

/** Launches each family with a NodeClaim that has the name of its EC2NodeClass. */
export async function launchEachFamily(world: E2eWorld): Promise<void> {
  const claims = Object.entries(FAMILIES).map(([name, { os = "linux" }]) => nodeClaim(name, name, { "kubernetes.io/os": [os] }));
  await apply(world, ...claims);
  for (const [name, { image, userData, disks, os = "linux" }] of Object.entries(FAMILIES)) {
    const machine = await initialized(world, name);
    const from = world.fake.state.images.get(machine.imageId)?.name ?? "";
    expect(image.test(from), () => `${name}: image ${from}`);
    expect(userData.test(machine.userData), () => `${name}: user data ${machine.userData}`);
    const devices = (machine.launch.BlockDeviceMappings ?? []).map(({ DeviceName }) => DeviceName).join(" ");
    expect(devices === disks, () => `${name}: disks ${devices || "none"}`);
    const profile = profiles(world).find(({ tags }) => tags.get(NODE_CLASS) === name);
    expect(machine.instanceProfile === profile?.name, () => `${name}: instance profile ${machine.instanceProfile}`);
    const node = (await list(world, "nodes")).find(({ spec }) => spec.providerID?.endsWith(`/${machine.id}`));
    expect(node?.metadata.labels?.["kubernetes.io/os"] === os, () => `${name}: a node of ${node?.metadata.labels?.["kubernetes.io/os"]}`);
  }
}

/** Deletes the EC2NodeClasses and their NodeClaims. */
export async function removeClasses(world: E2eWorld): Promise<void> {
  expect(profiles(world).length === CLASSES.length, () => `${profiles(world).length} instance profiles`);
  await world.cluster.kubectl("delete", "ec2nodeclass", ...CLASSES, "--wait=false");
  await world.cluster.kubectl("delete", "nodeclaims", "--all", "--wait=false");
  await eventually(
    "the profiles go",
    () => {
      const left = profiles(world).length;
      if (left > 0) throw new Error(`${left} are left`);
      return true;
    },
    { timeoutMs: LONG },
  );
  expect(alive(world).length === 0, () => `${alive(world).length} machines without a class`);
  await world.cluster.kubectl("delete", "ec2nodeclass", ...CLASSES, "--ignore-not-found", PATIENTLY);
  await gone(world);
  for (const { id } of [AL2_IMAGE, CUSTOM_IMAGE]) world.fake.state.images.delete(id);
}
