import { oncePer } from "../lib/once-per.ts";
import type { InstanceType } from "../model/instance-type.ts";
import type { EC2NodeClass, ResolvedAmi } from "../model/node-class.ts";
import { compatible, normalizeKey, requirementsFrom } from "../requirements/requirements.ts";

/** The images of a status with their requirements, and the labels that these read: a type has dozens of others. */
const imagesOf = oncePer((amis: readonly ResolvedAmi[]) => {
  const images = amis.map((ami) => ({ ami, requirements: requirementsFrom(ami.requirements) }));
  return { images, keys: new Set(images.flatMap(({ requirements }) => [...requirements.keys()])) };
});

/**
 * The image that an instance type boots: the first of the status, hence the newest, whose requirements the type meets;
 * undefined when no image does (karpenter-provider-aws: pkg/providers/amifamily/ami.go, MapToInstanceTypes).
 */
export function amiFor(
  { requirements: facts }: Pick<InstanceType, "requirements">,
  { status }: Pick<EC2NodeClass, "status">,
): ResolvedAmi | undefined {
  const { images, keys } = imagesOf(status?.amis ?? NO_IMAGES);
  const type = requirementsFrom(facts.filter(({ key }) => keys.has(normalizeKey(key))));
  return images.find(({ requirements }) => compatible(type, requirements))?.ami;
}

const NO_IMAGES: readonly ResolvedAmi[] = [];
