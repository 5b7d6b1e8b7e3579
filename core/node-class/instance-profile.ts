import { contentHash } from "../lib/fnv.ts";
import { NODE_CLASS, REGION } from "../model/labels.ts";
import type { EC2NodeClass } from "../model/node-class.ts";
import { CLUSTER_TAG } from "../model/tags.ts";

export interface InstanceProfile {
  readonly name: string;
  readonly path: string;
  /** Without its path. */
  readonly role: string;
  readonly tags: Readonly<Record<string, string>>;
}

/** Under which all profiles of a cluster are made. */
export function profilePath(cluster: string, region: string): string {
  return `/karpenter/${region}/${cluster}/`;
}

/**
 * The profile made for a NodeClass that names a role. The name follows from NodeClass and role, so that making it twice makes one, and a change of role
 * makes another; Karpenter's has a random part and needs a memory to not make many (ec2nodeclass.md §7).
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
