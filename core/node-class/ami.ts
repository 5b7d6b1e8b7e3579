import type { InstanceType } from "../model/instance-type.ts";
import type { EC2NodeClass, ResolvedAmi } from "../model/node-class.ts";
import { compatible, requirementsFrom } from "../requirements/requirements.ts";

/** The image a type boots: the first, so the newest, whose requirements the type meets; undefined when none does (ec2nodeclass.md §4). */
export function amiFor(instanceType: Pick<InstanceType, "requirements">, nodeClass: Pick<EC2NodeClass, "status">): ResolvedAmi | undefined {
  const type = requirementsFrom(instanceType.requirements);
  return nodeClass.status?.amis?.find((ami) => compatible(type, requirementsFrom(ami.requirements)));
}
