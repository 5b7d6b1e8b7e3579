import { isDeepStrictEqual } from "node:util";
import type { TestCluster } from "../../e2e/support/cluster.ts";
import { eventually as wait } from "../../e2e/support/wait.ts";
import type { AdmissionHost } from "./host.ts";

export type Fields = Readonly<Record<string, unknown>>;

/** A step; `act` returns undefined on success, else what is wrong. */
export type Step = readonly [name: string, act: () => Promise<string | undefined>];

export const CLUSTER = "c1";

export const V1 = "nodepools.v1.karpenter.sh";
export const OLD = "nodepools.v1beta1.karpenter.sh";
export const ALL_V1 = `${V1},nodeclaims.v1.karpenter.sh,ec2nodeclasses.v1.karpenter.k8s.aws`;
export const ALL_OLD = `${OLD},nodeclaims.v1beta1.karpenter.sh,ec2nodeclasses.v1beta1.karpenter.k8s.aws`;

export const NODE_CLAIM_V1 = {
  apiVersion: "karpenter.sh/v1",
  kind: "NodeClaim",
  metadata: { name: "machine" },
  spec: { requirements: [], nodeClassRef: { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" } },
};

/** The parts that the steps use. */
export interface Bench {
  readonly host: AdmissionHost;
  readonly kubectl: TestCluster["kubectl"];
  /** `kubectl apply` of one object. */
  readonly submit: (object: string | object, ...args: readonly string[]) => Promise<string>;
  readonly specOf: (kind: string, name: string) => Promise<Fields>;
}

export function benchOf({ kubectl }: Pick<TestCluster, "kubectl">, host: AdmissionHost): Bench {
  return {
    host,
    kubectl,
    submit: (object, ...args) =>
      kubectl("apply", ...args, "-f", "-", { input: typeof object === "string" ? object : JSON.stringify(object) }),
    specOf: async (kind, name) => {
      const { spec } = JSON.parse(await kubectl("get", kind, name, "-o", "json")) as { readonly spec: Fields };
      return spec;
    },
  };
}

export function named(object: object, name: string): object {
  return { ...object, metadata: { name } };
}

/** Calls repeatedly until a call succeeds; returns its output. */
export async function eventually(call: () => Promise<string>): Promise<string> {
  const { said } = await wait("a call succeeds", async () => ({ said: await call() }), { everyMs: 500 });
  return said;
}

export function match(text: string, wanted: RegExp): string | undefined {
  return wanted.test(text) ? undefined : `wanted ${wanted}, got: ${text.trim()}`;
}

export function same(got: unknown, want: unknown): string | undefined {
  return isDeepStrictEqual(got, want) ? undefined : `is ${JSON.stringify(got)}, wanted ${JSON.stringify(want)}`;
}
