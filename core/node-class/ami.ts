import type { InstanceType } from "../model/instance-type.ts";
import type { EC2NodeClass, ResolvedAmi } from "../model/node-class.ts";
import { compatible, requirementsFrom } from "../requirements/requirements.ts";

/**
 * The image that an instance type boots: the first of the status, hence the newest, whose requirements the type meets;
 * undefined when no image does (karpenter-provider-aws: pkg/providers/amifamily/ami.go, MapToInstanceTypes).
 */
export function amiFor(instanceType: Pick<InstanceType, "requirements">, nodeClass: Pick<EC2NodeClass, "status">): ResolvedAmi | undefined {
  const type = requirementsFrom(instanceType.requirements);
  return nodeClass.status?.amis?.find((ami) => compatible(type, requirementsFrom(ami.requirements)));
}
