import {
  CreateFleetCommand,
  type CreateFleetCommandInput,
  type CreateFleetCommandOutput,
  CreateLaunchTemplateCommand,
  EC2Client,
  type FleetLaunchTemplateOverridesRequest,
  type RequestLaunchTemplateData,
} from "@aws-sdk/client-ec2";
import { afterEach } from "vitest";
import { type FakeAws, startFakeAws } from "../e2e/fake-aws/fake-aws.ts";
import type { FakeAwsOptions } from "../e2e/fake-aws/options.ts";
import { smallCatalogue } from "../e2e/fake-aws/small-catalogue.ts";

const started: FakeAws[] = [];

afterEach(async () => {
  await Promise.all(started.splice(0).map((fake) => fake.close()));
});

/** A fake that ends with the test; its clock moves only by `advance`. */
export async function fakeAws(options: Partial<FakeAwsOptions> = {}): Promise<FakeAws> {
  const fake = await startFakeAws({ catalogue: smallCatalogue, now: () => Date.UTC(2026, 10, 21, 12), ...options });
  started.push(fake);
  return fake;
}

/** Settings of an SDK client that calls the fake, with one attempt, so that a test sees each result. */
export const clientConfig = ({ url }: FakeAws, accessKeyId = "AKIATEST", maxAttempts = 1) => ({
  region: "us-west-2",
  endpoint: url,
  credentials: { accessKeyId, secretAccessKey: "secret" },
  maxAttempts,
});

export const ec2Client = (fake: FakeAws, accessKeyId?: string, maxAttempts?: number): EC2Client =>
  new EC2Client(clientConfig(fake, accessKeyId, maxAttempts));

export const subnetIn = (fake: FakeAws, zone: string): string =>
  [...fake.state.subnets.values()].find((subnet) => subnet.zone === zone)?.id ?? "";

/** The recommended AL2023 image of an architecture. */
export const imageFor = (fake: FakeAws, arch = "x86_64"): string =>
  fake.state.parameters.get(
    `/aws/service/eks/optimized-ami/${fake.cluster.version}/amazon-linux-2023/${arch}/standard/recommended/image_id`,
  ) ?? "";

export async function template(fake: FakeAws, ec2: EC2Client, name = "t-1", data: RequestLaunchTemplateData = {}): Promise<string> {
  await ec2.send(
    new CreateLaunchTemplateCommand({
      LaunchTemplateName: name,
      LaunchTemplateData: {
        ImageId: imageFor(fake),
        UserData: Buffer.from("MIME-Version: 1.0").toString("base64"),
        IamInstanceProfile: { Name: "KarpenterNodeInstanceProfile-karpenter-test" },
        ...data,
      },
    }),
  );
  return name;
}

export type FleetAsk = {
  readonly template?: string;
  readonly count?: number;
  readonly capacityType?: "on-demand" | "spot";
  readonly overrides?: FleetLaunchTemplateOverridesRequest[];
  readonly token?: string;
  readonly more?: Partial<CreateFleetCommandInput>;
};

/** An instant fleet; by default one m5.large in us-west-2a. */
export function fleet(fake: FakeAws, ask: FleetAsk = {}): CreateFleetCommand {
  return new CreateFleetCommand({
    Type: "instant",
    LaunchTemplateConfigs: [
      {
        LaunchTemplateSpecification: { LaunchTemplateName: ask.template ?? "t-1", Version: "$Latest" },
        Overrides: ask.overrides ?? [{ InstanceType: "m5.large", SubnetId: subnetIn(fake, "us-west-2a") }],
      },
    ],
    TargetCapacitySpecification: { TotalTargetCapacity: ask.count ?? 1, DefaultTargetCapacityType: ask.capacityType ?? "on-demand" },
    ...(ask.token === undefined ? {} : { ClientToken: ask.token }),
    ...ask.more,
  });
}

/** Type and zone of each instance group, and the error codes. */
export const outcome = ({ Instances = [], Errors = [] }: CreateFleetCommandOutput) => ({
  instances: Instances.map(
    ({ InstanceType, AvailabilityZone, InstanceIds = [] }) => `${InstanceIds.length} ${InstanceType} ${AvailabilityZone}`,
  ),
  errors: Errors.map(({ ErrorCode }) => ErrorCode),
});

/** The name of a call's error, or "ok". */
export const errorOf = async (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => "ok",
    (error: unknown) => (error instanceof Error ? error.name : String(error)),
  );
