import { expect, it } from "vitest";
import { pod, scenario } from "../../support/scheduling/builders.ts";
import type { RawJson } from "../../support/scheduling/judge-rules.ts";
import { ourPlan, type PeerCase } from "./case.ts";
import { peerVerdict } from "./verdict.ts";

const SCENE = scenario({ pods: [pod("a"), pod("b"), pod("c", { cpu: "3" })] }) as RawJson;
const caseWith = (karpenter: RawJson): PeerCase => ({ name: "case", kind: "solve", scenario: SCENE, options: {}, notes: [], karpenter });
const ours = ourPlan(caseWith({}));

/** Our plan with each pod's name exchanged. */
const swapped = JSON.parse(JSON.stringify(ours).replace(/default\/[ab]/g, (name) => (name.endsWith("a") ? "default/b" : "default/a")));
const alone = (type: string, ...pods: readonly string[]) => ({
  nodePool: "default",
  requirements: [],
  instanceTypes: [type],
  pods: pods.map((name) => `default/${name}`),
});
const plan = (newNodeClaims: readonly object[], podErrors = {}) => ({ newNodeClaims, existingNodes: [], podErrors });

it.for([
  { name: "the same plan is alike", karpenter: ours, want: "alike" },
  { name: "a plan with equal pods exchanged is alike", karpenter: swapped, want: "alike" },
  { name: "a plan that costs more is another lawful choice", karpenter: plan([alone("m.large", "a", "b", "c")]), want: "lawful" },
  {
    name: "a plan that leaves a pod is another lawful choice",
    karpenter: plan([alone("m.small", "a")], { "default/b": "", "default/c": "" }),
    want: "lawful",
  },
])("compared with ours, $name", ({ karpenter, want }) => {
  expect(peerVerdict(caseWith(karpenter)).verdict).toBe(want);
});

it("our plan differs where it leaves a pod that Karpenter places", () => {
  const tooLarge = scenario({ pods: [pod("a", { cpu: "15500m" })], nodePools: [] }) as RawJson;
  const one: PeerCase = { ...caseWith(plan([alone("m.large", "a")])), scenario: { ...tooLarge, nodePools: SCENE.nodePools } };
  const closed: PeerCase = { ...one, scenario: { ...one.scenario, nodePools: SCENE.nodePools.map(unready) } };
  expect(peerVerdict(one).verdict).not.toBe("differs");
  expect(peerVerdict(closed)).toMatchObject({ verdict: "differs", why: [expect.stringContaining("leaves default/a")] });
});

const unready = (pool: RawJson) => ({ ...pool, status: { conditions: [{ type: "Ready", status: "False" }] } });
