import { expect, it } from "vitest";
import { hydrated } from "#core/lifecycle/hydration.ts";
import type { Instance, KnownInstance } from "#core/model/instance.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import { INSTANCE, record } from "../../support/builders.ts";

const published = (over: Partial<Instance>): Instance => ({ ...INSTANCE, state: "running", launchedAt: 0, tags: {}, ...over });
const known = (over: Partial<KnownInstance> = {}): NodeClaimRecord => record({ instance: { ...INSTANCE, ...over } });

it.for<{ name: string; of: NodeClaimRecord; said: Instance; want: Partial<KnownInstance> | undefined }>([
  {
    name: "its security groups, sorted",
    of: known(),
    said: published({ securityGroupIds: ["sg-2", "sg-1"] }),
    want: { securityGroupIds: ["sg-1", "sg-2"] },
  },
  {
    name: "nothing when its security groups are on record",
    of: known({ securityGroupIds: ["sg-1", "sg-2"] }),
    said: published({ securityGroupIds: ["sg-2", "sg-1"] }),
    want: undefined,
  },
  {
    name: "security groups that were changed",
    of: known({ securityGroupIds: ["sg-1"] }),
    said: published({ securityGroupIds: ["sg-3"] }),
    want: { securityGroupIds: ["sg-3"] },
  },
  { name: "its partition", of: known(), said: published({ partition: "2" }), want: { partition: "2" } },
  {
    name: "nothing from an instance that shuts down",
    of: known(),
    said: published({ partition: "2", state: "shutting-down" }),
    want: undefined,
  },
  {
    name: "nothing for a NodeClaim that terminates",
    of: { ...known(), terminating: { reason: "deleted", at: 0 } },
    said: published({ partition: "2" }),
    want: undefined,
  },
])("hydration adds to a record: $name", ({ of, said, want }) => {
  expect(hydrated(of, said)).toEqual(want && { ...of, instance: { ...of.instance, ...want } });
});
