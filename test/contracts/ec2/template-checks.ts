import assert from "node:assert/strict";
import {
  CreateLaunchTemplateCommand,
  DeleteLaunchTemplateCommand,
  DescribeLaunchTemplatesCommand,
  DescribeLaunchTemplateVersionsCommand,
} from "@aws-sdk/client-ec2";
import { present, refused } from "./assertions.ts";
import type { Check } from "./contract.ts";
import { makeTemplate } from "./world.ts";

export const templateChecks: readonly Check[] = [
  {
    name: "a launch template is found by its name, with its tags",
    async run(world) {
      const name = await makeTemplate(world);
      const { LaunchTemplates = [] } = await world.ec2.send(new DescribeLaunchTemplatesCommand({ LaunchTemplateNames: [name] }));
      assert.equal(LaunchTemplates[0]?.LaunchTemplateName, name);
      assert.equal(LaunchTemplates[0]?.LatestVersionNumber, 1);
      assert.deepEqual(LaunchTemplates[0]?.Tags, [{ Key: "eks:eks-cluster-name", Value: "contract" }]);
    },
  },
  {
    name: "launch templates are listed by tag",
    async run(world) {
      const name = await makeTemplate(world);
      const { LaunchTemplates = [] } = await world.ec2.send(
        new DescribeLaunchTemplatesCommand({ Filters: [{ Name: "tag:eks:eks-cluster-name", Values: ["contract"] }], MaxResults: 200 }),
      );
      assert.ok(LaunchTemplates.some(({ LaunchTemplateName }) => LaunchTemplateName === name));
    },
  },
  {
    name: "a launch template's name can be used once",
    async run(world) {
      const name = await makeTemplate(world);
      const again = new CreateLaunchTemplateCommand({ LaunchTemplateName: name, LaunchTemplateData: { ImageId: world.imageId } });
      await refused(world.ec2.send(again), "InvalidLaunchTemplateName.AlreadyExistsException");
    },
  },
  {
    name: "describing a launch template that does not exist is InvalidLaunchTemplateName.NotFoundException",
    async run(world) {
      await refused(
        world.ec2.send(new DescribeLaunchTemplatesCommand({ LaunchTemplateNames: [world.unique("absent")] })),
        "InvalidLaunchTemplateName.NotFoundException",
      );
    },
  },
  {
    name: "a version of a launch template gives back what it was made of",
    async run(world) {
      const name = await makeTemplate(world);
      const { LaunchTemplateVersions = [] } = await world.ec2.send(
        new DescribeLaunchTemplateVersionsCommand({ LaunchTemplateName: name, Versions: ["$Latest"] }),
      );
      const data = present(LaunchTemplateVersions[0]?.LaunchTemplateData, "LaunchTemplateData");
      assert.equal(data.ImageId, world.imageId);
      assert.equal(Buffer.from(data.UserData ?? "", "base64").toString(), "#!/bin/bash\necho hello\n");
      assert.equal(data.MetadataOptions?.HttpTokens, "required");
      assert.equal(data.IamInstanceProfile?.Name, world.profile);
      assert.deepEqual(data.NetworkInterfaces?.[0]?.Groups, [world.groupId]);
      assert.equal(data.BlockDeviceMappings?.[0]?.Ebs?.VolumeSize, 20);
      assert.equal(data.BlockDeviceMappings?.[0]?.Ebs?.Encrypted, true);
    },
  },
  {
    name: "a deleted launch template is gone",
    async run(world) {
      const name = await makeTemplate(world);
      await world.ec2.send(new DeleteLaunchTemplateCommand({ LaunchTemplateName: name }));
      await refused(
        world.ec2.send(new DescribeLaunchTemplatesCommand({ LaunchTemplateNames: [name] })),
        "InvalidLaunchTemplateName.NotFoundException",
      );
    },
  },
  {
    name: "deleting a launch template that does not exist is an error",
    async run(world) {
      await refused(
        world.ec2.send(new DeleteLaunchTemplateCommand({ LaunchTemplateName: world.unique("absent") })),
        "InvalidLaunchTemplateName.NotFoundException",
      );
    },
  },
  {
    name: "user data over 16 KiB is refused when the template is made",
    async run(world) {
      const UserData = Buffer.alloc(16_385, "a").toString("base64");
      await refused(makeTemplate(world, { UserData }), "InvalidUserData.Malformed");
    },
  },
];
