import { afterAll, describe, it } from "vitest";
import { startFakeAws } from "../../e2e/fake-aws/fake-aws.ts";
import { smallCatalogue } from "../../e2e/fake-aws/small-catalogue.ts";
import { ec2Contract } from "./contract.ts";

const contract = ec2Contract(async () => {
  const fake = await startFakeAws({ catalogue: smallCatalogue });
  return {
    url: fake.url,
    roleName: "KarpenterNodeRole-karpenter-test",
    clusterName: fake.cluster.name,
    kubernetesVersion: fake.cluster.version,
    pass: (ms: number) => fake.advance(ms),
    close: () => fake.close(),
  };
});

describe("EC2 contract on the fake", () => {
  for (const { name, run } of contract.cases) it(name, run);

  afterAll(contract.close);
});
