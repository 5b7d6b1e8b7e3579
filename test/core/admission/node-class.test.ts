import { describe, expect, it } from "vitest";
import { review } from "#core/admission/review.ts";
import type { JsonObject } from "#core/lib/json.ts";
import { nodeClass } from "../../infra/crd-samples.ts";

const of = (spec: Readonly<Record<string, unknown>>) => review(nodeClass(spec) as JsonObject);
const device = (deviceName: string, ebs: JsonObject = { volumeSize: "20Gi" }) => ({ deviceName, ebs });
const devices = (...blockDeviceMappings: readonly JsonObject[]) => ({ blockDeviceMappings });
const xvda = (ebs: JsonObject) => devices(device("/dev/xvda", { volumeSize: "20Gi", ...ebs }));
const family = (alias: string) => ({ amiSelectorTerms: [{ alias: `${alias}@latest` }] });
const custom = { amiFamily: "Custom", amiSelectorTerms: [{ id: "ami-1" }] };

describe("an EC2NodeClass", () => {
  it.for([
    { name: "from a tutorial", spec: {} },
    { name: "with a role in a path", spec: { role: "teams/a/KarpenterNodeRole" } },
    { name: "with a profile", spec: { role: undefined, instanceProfile: "KarpenterNodeInstanceProfile-c1" } },
    { name: "with fast disks", spec: xvda({ volumeType: "gp3", iops: 10000, throughput: 500 }) },
    { name: "with a provisioned disk", spec: xvda({ volumeType: "io2", iops: 10000 }) },
    { name: "with DNS of both families", spec: { kubelet: { clusterDNS: ["10.100.0.10", "fd00::a"] } } },
    { name: "with a shell script", spec: { userData: "#!/bin/bash\necho hello" } },
    { name: "with Bottlerocket's settings", spec: { ...family("bottlerocket"), userData: "[settings.kubernetes]\nlog-level = 3" } },
    { name: "with two disks for Bottlerocket", spec: { ...family("bottlerocket"), ...devices(device("/dev/xvda"), device("/dev/xvdb")) } },
    { name: "with a root volume of its own name", spec: devices({ ...device("/dev/sda1"), rootVolume: true }) },
    { name: "with disks of a custom image", spec: { ...custom, ...devices(device("/dev/sdf")) } },
  ])("an EC2NodeClass $name passes without warnings", ({ spec }) => {
    expect(of(spec)).toEqual({ problems: [], warnings: [] });
  });

  it.for([
    {
      name: "a role's ARN",
      spec: { role: "arn:aws:iam::111122223333:role/a/KarpenterNodeRole" },
      says: /spec\.role: .* write KarpenterNodeRole in place of the ARN$/,
    },
    { name: "a role with blanks", spec: { role: "node role" }, says: /is no role's name; use letters/ },
    {
      name: "a profile's ARN",
      spec: { role: undefined, instanceProfile: "arn:aws:iam::111122223333:instance-profile/nodes" },
      says: /spec\.instanceProfile: .* write nodes in place of the ARN$/,
    },
    { name: "a tag that starts with aws:", spec: { tags: { "aws:thing": "x" } }, says: /aws:thing begins with aws:/ },
    {
      name: "a tag that the system sets",
      spec: { tags: { "karpenter-serverless/claim-uid": "x" } },
      says: /is set by the system; take it out/,
    },
    { name: "a long tag", spec: { tags: { a: "x".repeat(257) } }, says: /value of a has 257 characters/ },
    { name: "a long key", spec: { tags: { ["k".repeat(129)]: "x" } }, says: /has 129 characters/ },
    {
      name: "44 tags",
      spec: { tags: Object.fromEntries(Array.from({ length: 44 }, (_, i) => [`t${i}`, ""])) },
      says: /44 tags; EC2 takes 50/,
    },
    { name: "a device that is mapped twice", spec: devices(device("/dev/xvda"), device("/dev/xvda")), says: /\/dev\/xvda is mapped twice/ },
    {
      name: "a device without a name",
      spec: devices(device("/dev/xvda"), { ebs: { volumeSize: "1Gi" } }),
      says: /blockDeviceMappings\[1\]: deviceName is missing/,
    },
    {
      name: "IOPS of gp2",
      spec: xvda({ volumeType: "gp2", iops: 3000 }),
      says: /ebs\.iops: EC2 does not take it for a volume of type gp2/,
    },
    {
      name: "throughput of io1",
      spec: xvda({ volumeType: "io1", iops: 100, throughput: 200 }),
      says: /ebs\.throughput: EC2 does not take it for a volume of type io1/,
    },
    { name: "io2 without IOPS", spec: xvda({ volumeType: "io2" }), says: /type io2 requires it/ },
    { name: "a name in place of a DNS address", spec: { kubelet: { clusterDNS: ["kube-dns"] } }, says: /"kube-dns" is no IP address/ },
    { name: "a DNS address out of range", spec: { kubelet: { clusterDNS: ["10.0.0.256"] } }, says: /no IP address/ },
    {
      name: "MIME without a boundary",
      spec: { userData: "MIME-Version: 1.0\n\nx" },
      says: /^spec\.userData: is a MIME document without a boundary/,
    },
    {
      name: "a shell script for Bottlerocket",
      spec: { ...family("bottlerocket"), userData: "#!/bin/bash\necho hello" },
      says: /^spec\.userData: .*line 2/,
    },
    { name: "user data of 17 KB", spec: { userData: `#!/bin/bash\n# ${"é".repeat(8500)}` }, says: /has 17014 bytes, EC2 takes 16384/ },
  ])("an EC2NodeClass with $name is refused", ({ spec, says }) => {
    const { problems } = of(spec);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(says);
  });

  it.for([
    {
      name: "an id beside tags",
      spec: { subnetSelectorTerms: [{ tags: { a: "b" } }, { id: "subnet-1", tags: { a: "b" } }] },
      says: "subnetSelectorTerms[1]: id decides, so tags beside it is not read",
    },
    {
      name: "an ssmParameter beside other fields",
      spec: { amiFamily: "AL2023", amiSelectorTerms: [{ ssmParameter: "/x", name: "y", owner: "self" }] },
      says: "ssmParameter decides, so name and owner beside it are not read",
    },
    {
      name: "kubelet settings of a custom image",
      spec: { ...custom, kubelet: { maxPods: 20 } },
      says: "your user data must configure the kubelet in the same way",
    },
    {
      name: "podsPerCore of Bottlerocket",
      spec: { ...family("bottlerocket"), kubelet: { podsPerCore: 4 } },
      says: "images of Bottlerocket cannot set podsPerCore",
    },
    {
      name: "two DNS addresses of AL2",
      spec: { ...family("al2"), kubelet: { clusterDNS: ["10.0.0.1", "10.0.0.2"] } },
      says: "images of AL2 take one address, and 2 are given",
    },
    { name: "a field that no kubelet has", spec: { kubelet: { maxpods: 4 } }, says: "no such field; write maxPods" },
    {
      name: "an unmapped pod volume",
      spec: { ...family("bottlerocket"), ...devices(device("/dev/xvda")) },
      says: "pods of Bottlerocket use /dev/xvdb",
    },
    { name: "the metadata service disabled", spec: { metadataOptions: { httpEndpoint: "disabled" } }, says: "nodes will not join" },
    {
      name: "an instance store policy for Windows",
      spec: { ...family("windows2022"), instanceStorePolicy: "RAID0" },
      says: "do not take it",
    },
  ])("an EC2NodeClass with $name gets a warning", ({ spec, says }) => {
    expect(of(spec)).toEqual({ problems: [], warnings: [expect.stringContaining(says)] });
  });
});
