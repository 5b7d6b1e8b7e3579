import { contentHash } from "../lib/fnv.ts";
import { NODE_CLASS, REGION } from "../model/labels.ts";
import type { EC2NodeClass } from "../model/node-class.ts";
import { CLUSTER_TAG } from "../model/tags.ts";

interface InstanceProfile {
  readonly name: string;
  readonly path: string;
  /** Name of the role without its path. */
  readonly role: string;
  readonly tags: Readonly<Record<string, string>>;
}

/** The IAM path of all profiles of a cluster. */
export function profilePath(cluster: string, region: string): string {
  return `/karpenter/${region}/${cluster}/`;
}

/**
 * The instance profile of a NodeClass that names a role. Its name follows from the NodeClass and the role, so that two
 * creations make one profile, and another role makes another profile. Karpenter's name has a random part
 * (karpenter-provider-aws: pkg/controllers/nodeclass/instanceprofile.go, InstanceProfile.Reconcile).
 */
export function instanceProfileOf(nodeClass: EC2NodeClass, role: string, cluster: string, region: string): InstanceProfile {
  const { name, uid = "" } = nodeClass.metadata;
  const bare = role.slice(role.lastIndexOf("/") + 1);
  return {
    name: `${cluster}_${contentHash({ region, name, uid, role: bare })}`,
    path: `${profilePath(cluster, region)}${uid}/`,
    role: bare,
    tags: {
      ...nodeClass.spec.tags,
      [`kubernetes.io/cluster/${cluster}`]: "owned",
      [CLUSTER_TAG]: cluster,
      [NODE_CLASS]: name,
      [REGION]: region,
    },
  };
}
