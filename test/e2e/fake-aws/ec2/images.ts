import type { DescribeImagesRequest, DescribeImagesResult } from "@aws-sdk/client-ec2";
import { AwsError } from "../errors.ts";
import type { FakeImage } from "../images.ts";
import { type FakeAwsState, tagList } from "../world.ts";
import { type Facets, page, select } from "./select.ts";

const FACETS: Facets<FakeImage> = {
  "image-id": ({ id }) => id,
  name: ({ name }) => name,
  architecture: ({ architecture }) => architecture,
  state: () => "available",
  "owner-id": ({ ownerId }) => ownerId,
  "owner-alias": ({ ownerAlias }) => ownerAlias,
  "creation-date": ({ creationDate }) => creationDate,
  "is-public": ({ ownerAlias }) => String(ownerAlias !== undefined),
  "virtualization-type": () => "hvm",
  "root-device-type": () => "ebs",
  platform: ({ platform }) => platform,
};

/** An unknown id in ImageIds is an error; the same id in a filter finds nothing. */
export function describeImages(world: FakeAwsState, request: DescribeImagesRequest): DescribeImagesResult {
  const ids = request.ImageIds ?? [];
  const unknown = ids.filter((id) => !world.images.has(id));
  if (unknown.length > 0) {
    throw new AwsError(
      "InvalidAMIID.NotFound",
      `The image id${unknown.length > 1 ? "s" : ""} '[${unknown.join(", ")}]' do${unknown.length > 1 ? "" : "es"} not exist`,
    );
  }
  const owners = request.Owners ?? [];
  const now = new Date(world.clock.now()).toISOString();
  const candidates = [...world.images.values()].filter(
    (image) =>
      (ids.length === 0 || ids.includes(image.id)) &&
      (owners.length === 0 ||
        owners.some((owner) => [image.ownerId, image.ownerAlias].includes(owner === "self" ? world.account : owner))) &&
      (request.IncludeDeprecated || (image.deprecationTime ?? "9") > now || ids.length > 0),
  );
  const { items, next } = page(select(candidates, request.Filters, FACETS), request, { min: 1, max: 1000 });
  return {
    Images: items.map((image) => ({
      ImageId: image.id,
      Name: image.name,
      Description: image.name,
      Architecture: image.architecture,
      CreationDate: image.creationDate,
      ...(image.deprecationTime === undefined ? {} : { DeprecationTime: image.deprecationTime }),
      OwnerId: image.ownerId,
      ...(image.ownerAlias === undefined ? {} : { ImageOwnerAlias: image.ownerAlias }),
      ImageLocation: `${image.ownerAlias ?? image.ownerId}/${image.name}`,
      ImageType: "machine",
      Public: image.ownerAlias !== undefined,
      State: "available",
      Hypervisor: "xen",
      VirtualizationType: "hvm",
      RootDeviceType: "ebs",
      RootDeviceName: image.rootDeviceName,
      EnaSupport: true,
      ...(image.platform === undefined ? { PlatformDetails: "Linux/UNIX" } : { Platform: "Windows" as const, PlatformDetails: "Windows" }),
      BlockDeviceMappings: [{ DeviceName: image.rootDeviceName, Ebs: { VolumeSize: 20, VolumeType: "gp3", DeleteOnTermination: true } }],
      Tags: tagList(image.tags),
    })),
    ...(next === undefined ? {} : { NextToken: next }),
  };
}
