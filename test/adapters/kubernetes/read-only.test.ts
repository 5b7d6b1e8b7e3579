import { expect, it } from "vitest";
import { readOnly } from "#adapters/kubernetes/read-only.ts";
import { clusterApi } from "#installer/account/cluster-api.ts";

it("status and doctor may ask a cluster, and no write of theirs reaches it", async () => {
  const asked: string[] = [];
  const api = clusterApi(
    readOnly(async ({ method, path }) => {
      asked.push(`${method} ${path}`);
      return { status: 200, body: {} };
    }),
    () => 0,
  );
  const pool = { apiVersion: "karpenter.sh/v1", kind: "NodePool", metadata: { name: "default" } };
  await api.observe();
  await api.list({ apiVersion: "v1", kind: "Pod" }, { fieldSelector: "status.phase=Pending" });
  await expect(api.apply(pool)).rejects.toThrow("this command only reads");
  await expect(api.remove(pool)).rejects.toThrow("this command only reads");
  expect(asked).toEqual([
    "POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
    "GET /apis/coordination.k8s.io/v1/leases",
    "GET /api/v1/pods",
  ]);
});
