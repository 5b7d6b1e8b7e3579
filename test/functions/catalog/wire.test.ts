import { IAMClient } from "@aws-sdk/client-iam";
import { PricingClient } from "@aws-sdk/client-pricing";
import { SSMClient } from "@aws-sdk/client-ssm";
import { expect, it } from "vitest";
import { ec2Fleet } from "#adapters/aws/fleet.ts";
import { awsInventory } from "#adapters/aws/inventory.ts";
import { unpackCatalogue } from "#adapters/catalogue/document.ts";
import { renderLaunch } from "#core/launch/fleet-request.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import { instanceTypesOf } from "#core/offerings/instance-types.ts";
import { refreshPrices } from "#functions/catalog/prices.ts";
import { refreshNodeClasses } from "#functions/catalog/refresh.ts";
import { clientConfig, ec2Client, fakeAws } from "../../fake-aws/support.ts";
import { nodeClass, nodePool, TestWorld } from "./world.ts";

const claim: NodeClaim = {
  metadata: { name: "default-abcde", uid: "uid-1", labels: { "karpenter.sh/nodepool": "default" } },
  spec: {
    nodeClassRef: { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" },
    requirements: [{ key: "kubernetes.io/arch", operator: "In", values: ["arm64"] }],
    resources: { requests: { cpu: "1", memory: "1Gi" } },
  },
};

/**
 * An account behind EC2's wire protocol, an EC2NodeClass that selects its network, and a launch from what the catalog
 * function stores.
 */
async function openAccount() {
  const fake = await fakeAws();
  const config = clientConfig(fake);
  const ec2 = ec2Client(fake);
  const inventory = awsInventory({ ec2, ssm: new SSMClient(config), pricing: new PricingClient(config), iam: new IAMClient(config) });
  const world = new TestWorld();
  const deps = { ...world.deps, inventory };
  const discovery = [{ tags: { "karpenter.sh/discovery": "karpenter-test" } }];
  const spec = { role: "KarpenterNodeRole-karpenter-test", subnetSelectorTerms: discovery, securityGroupSelectorTerms: discovery };
  world.put("EC2NodeClass", nodeClass({ spec }));
  world.put("NodePool", nodePool());

  const launch = async (uid: string) => {
    const resolved = world.get("EC2NodeClass", "default");
    const catalogue = unpackCatalogue(world.documents.get("catalogue/us-west-2")?.bytes ?? new Uint8Array());
    const instanceTypes = instanceTypesOf({ catalogue, nodeClass: resolved, unavailable: [], settings: deps.settings });
    const own = { ...claim, metadata: { ...claim.metadata, uid } };
    const rendered = renderLaunch({ claim: own, record: {}, nodeClass: resolved, instanceTypes, cluster: deps.cluster, attempt: 0 });
    if ("error" in rendered) throw new Error(rendered.error.message);
    const fleet = ec2Fleet(ec2);
    for (const template of rendered.ok.templates) await fleet.ensureLaunchTemplate(template);
    const { instance, errors } = await fleet.launch(rendered.ok.request);
    expect(errors).toEqual([]);
    return instance;
  };
  return { fake, world, deps, launch };
}

it("selectors lead to a running instance over EC2's wire protocol", async () => {
  const { fake, world, deps, launch } = await openAccount();
  await refreshPrices(deps);
  await refreshNodeClasses(deps, world.memory);
  expect(world.errors).toEqual([]);
  expect(world.get("EC2NodeClass", "default").status?.conditions?.at(-1)).toMatchObject({ type: "Ready", status: "True" });

  const instance = await launch("uid-1");
  // The cheapest spot offering of an arm64 type.
  expect(instance).toMatchObject({ instanceType: "c6g.large", zone: "us-west-2b", capacityType: "spot" });
  const running = fake.state.instances.get(instance?.id ?? "");
  expect(running?.tags.get("karpenter-serverless/claim-uid")).toBe("uid-1");
});

it("after a price has risen another offering is launched", async () => {
  const { fake, world, deps, launch } = await openAccount();
  await refreshPrices(deps);
  await refreshNodeClasses(deps, world.memory);
  const before = await launch("uid-1");
  fake.changePrice({ instanceType: before?.instanceType ?? "", zone: before?.zone ?? "", price: 5 });
  await refreshPrices(deps);
  const catalogue = unpackCatalogue(world.documents.get("catalogue/us-west-2")?.bytes ?? new Uint8Array());
  expect(catalogue.spot?.[before?.instanceType ?? ""]?.[before?.zone ?? ""]).toBe(5);
  const after = await launch("uid-2");
  expect(after?.capacityType).toBe("spot");
  expect([after?.instanceType, after?.zone]).not.toEqual([before?.instanceType, before?.zone]);
});
