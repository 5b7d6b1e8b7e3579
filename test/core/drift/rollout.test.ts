import { expect, it } from "vitest";
import { rolloutOfClass, rolloutOfPool } from "#core/drift/rollout.ts";
import type { Condition } from "#core/model/kubernetes.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { EC2NodeClass } from "#core/model/node-class.ts";
import type { NodePool } from "#core/model/node-pool.ts";

const POOL = "karpenter.sh/nodepool-hash";
const CLASS = "karpenter.k8s.aws/ec2nodeclass-hash";
const nodeClassRef = { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" };

interface Parts {
  readonly pool?: string;
  readonly nodeClass?: string;
  readonly image?: string;
  readonly drifted?: string;
  readonly launched?: boolean;
}

function claim({ pool = "1", nodeClass = "1", image = "ami-1", drifted, launched = true }: Parts = {}): NodeClaim {
  const conditions: Condition[] = [{ type: "Launched", status: launched ? "True" : "Unknown" }];
  if (drifted !== undefined) conditions.push({ type: "Drifted", status: "True", reason: drifted });
  const annotations = { [POOL]: pool, [`${POOL}-version`]: "v3", [CLASS]: nodeClass, [`${CLASS}-version`]: "v1" };
  return {
    metadata: { name: "c", annotations, labels: {} },
    spec: { requirements: [], nodeClassRef },
    status: { imageID: image, conditions },
  };
}
const nodePool: NodePool = {
  metadata: { name: "default", annotations: { [POOL]: "1", [`${POOL}-version`]: "v3" } },
  spec: { template: { spec: { requirements: [], nodeClassRef } } },
};
const nodeClass: EC2NodeClass = {
  metadata: { name: "default", annotations: { [CLASS]: "1", [`${CLASS}-version`]: "v1" } },
  spec: { subnetSelectorTerms: [], securityGroupSelectorTerms: [], amiSelectorTerms: [] },
  status: { amis: [{ id: "ami-1", requirements: [] }] },
};

it.for<{ name: string; claims: readonly NodeClaim[]; pool: string; ofClass: string }>([
  { name: "no NodeClaims", claims: [], pool: "False", ofClass: "False" },
  { name: "NodeClaims that follow", claims: [claim(), claim()], pool: "False", ofClass: "False" },
  {
    name: "a NodePool's template that changed before disruption has looked",
    claims: [claim({ pool: "0" }), claim()],
    pool: "1 of 2 NodeClaims have drifted: NodePoolDrifted 1",
    ofClass: "False",
  },
  {
    name: "an EC2NodeClass that changed before disruption has looked",
    claims: [claim({ nodeClass: "0" }), claim({ nodeClass: "0" }), claim()],
    pool: "2 of 3 NodeClaims have drifted: NodeClassDrift 2",
    ofClass: "2 of 3 NodeClaims have drifted: NodeClassDrift 2",
  },
  {
    name: "an image that the EC2NodeClass no longer has",
    claims: [claim({ image: "ami-0" })],
    pool: "1 of 1 NodeClaims have drifted: AMIDrift 1",
    ofClass: "1 of 1 NodeClaims have drifted: AMIDrift 1",
  },
  {
    name: "what disruption has found, by reason",
    claims: [claim({ drifted: "SubnetDrift" }), claim({ drifted: "InstanceTypeNotFound" }), claim({ drifted: "SubnetDrift" }), claim()],
    pool: "3 of 4 NodeClaims have drifted: InstanceTypeNotFound 1, SubnetDrift 2",
    ofClass: "2 of 4 NodeClaims have drifted: SubnetDrift 2",
  },
  {
    name: "drift from both, of which the NodeClaim names the NodePool's",
    claims: [claim({ drifted: "NodePoolDrifted", nodeClass: "0" })],
    pool: "1 of 1 NodeClaims have drifted: NodePoolDrifted 1",
    ofClass: "1 of 1 NodeClaims have drifted: NodeClassDrift 1",
  },
  { name: "a NodeClaim that is not launched yet", claims: [claim({ pool: "0", launched: false })], pool: "False", ofClass: "False" },
])("Drifted of NodePool and EC2NodeClass with $name", ({ claims, pool, ofClass }) => {
  const text = ({ status, message }: { readonly status: string; readonly message?: string }): string => message ?? status;
  expect(text(rolloutOfPool(nodePool, nodeClass, claims))).toBe(pool);
  expect(text(rolloutOfClass(nodeClass, claims))).toBe(ofClass);
});
