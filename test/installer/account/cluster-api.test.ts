import { describe, expect, it } from "vitest";
import type { ApiRequest } from "#adapters/kubernetes/transport.ts";
import { clusterApi } from "#installer/account/cluster-api.ts";

const NOW = Date.parse("2026-11-23T12:00:00Z");

/** An API server that answers by path; it keeps what it was asked. */
function server(answers: Readonly<Record<string, { readonly status: number; readonly body: unknown }>>) {
  const asked: ApiRequest[] = [];
  const api = clusterApi(
    async (request) => {
      asked.push(request);
      return answers[request.path] ?? { status: 404, body: { message: "not found" } };
    },
    () => NOW,
  );
  return { api, asked };
}

const REVIEW = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
const LEASES = "/apis/coordination.k8s.io/v1/leases";
const allowed = (allowed: boolean) => ({ status: 201, body: { status: { allowed } } });
const lease = (renewTime: string) => ({
  status: 200,
  body: {
    items: [{ metadata: { name: "karpenter-leader-election", namespace: "kube-system" }, spec: { holderIdentity: "x", renewTime } }],
  },
});
const role = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "Role", metadata: { name: "r", namespace: "kube-system" } };

describe("the cluster of an installation", () => {
  it("an object is applied by server-side apply under one field manager, at the path of its kind and namespace", async () => {
    const path = "/apis/rbac.authorization.k8s.io/v1/namespaces/kube-system/roles/r";
    const { api, asked } = server({ [path]: { status: 200, body: {} } });
    await api.apply(role);
    expect(asked).toEqual([
      {
        method: "PATCH",
        path,
        query: { fieldManager: "karpenter-serverless", force: "true" },
        body: role,
        contentType: "application/apply-patch+yaml",
      },
    ]);
  });

  it("a kind that is not served yet is told from a refusal, whose message names the object", async () => {
    const pool = { apiVersion: "karpenter.sh/v1", kind: "NodePool", metadata: { name: "default" } };
    await expect(server({}).api.apply(pool)).rejects.toMatchObject({ name: "NotFoundError" });
    const refused = server({ "/apis/karpenter.sh/v1/nodepools/default": { status: 403, body: { message: "forbidden" } } });
    await expect(refused.api.apply(pool)).rejects.toThrow("applying NodePool default: forbidden");
  });

  it("an object that is not there is undefined, and one that may not be read is an error", async () => {
    expect(await server({}).api.find(role)).toBeUndefined();
    const path = "/apis/rbac.authorization.k8s.io/v1/namespaces/kube-system/roles/r";
    await expect(server({ [path]: { status: 403, body: { message: "forbidden" } } }).api.find(role)).rejects.toThrow(
      "reading Role r: forbidden",
    );
  });

  it("rights and a running Karpenter are observed", async () => {
    const { api } = server({ [REVIEW]: allowed(true), [LEASES]: lease("2026-11-23T11:59:50Z") });
    expect(await api.observe()).toEqual({ mayInstall: true, karpenter: "kube-system/karpenter-leader-election" });
  });

  it("a Karpenter that has ended, or Leases that may not be read, are no running Karpenter", async () => {
    expect(await server({ [REVIEW]: allowed(false), [LEASES]: lease("2026-11-22T00:00:00Z") }).api.observe()).toEqual({
      mayInstall: false,
    });
    expect(await server({ [REVIEW]: allowed(true), [LEASES]: { status: 403, body: {} } }).api.observe()).toEqual({ mayInstall: true });
  });

  it("a person whom the cluster does not know is told so", async () => {
    const unknown = server({ [REVIEW]: { status: 401, body: { message: "Unauthorized" } } });
    await expect(unknown.api.observe()).rejects.toThrow("asking for your rights: Unauthorized");
  });
});
