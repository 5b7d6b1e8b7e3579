import { failure, messageOf } from "#adapters/kubernetes/errors.ts";
import type { ApiRequest, ApiResponse, Transport } from "#adapters/kubernetes/transport.ts";
import { KARPENTER_LEASE, type KubernetesLease, runningKarpenter } from "#core/model/karpenter-lease.ts";
import type { ClusterApi, KubeObject } from "./ports.ts";

/** The paths of the kinds that an installation writes, removes or reads. */
const PLURALS: Readonly<Record<string, string>> = {
  CustomResourceDefinition: "customresourcedefinitions",
  ClusterRole: "clusterroles",
  ClusterRoleBinding: "clusterrolebindings",
  Role: "roles",
  RoleBinding: "rolebindings",
  FlowSchema: "flowschemas",
  ValidatingWebhookConfiguration: "validatingwebhookconfigurations",
  MutatingWebhookConfiguration: "mutatingwebhookconfigurations",
  NodePool: "nodepools",
  NodeClaim: "nodeclaims",
  EC2NodeClass: "ec2nodeclasses",
  Pod: "pods",
  Node: "nodes",
  Deployment: "deployments",
  Lease: "leases",
};

/** The owner of fields that an installation writes. */
const FIELD_MANAGER = "karpenter-serverless";

/** An API server, asked with the caller's own identity. */
export function clusterApi(send: Transport, now: () => number): ClusterApi {
  const sent = async (request: ApiRequest, doing: string): Promise<ApiResponse> => {
    const response = await send(request);
    if (response.status >= 400) throw response.status === 404 ? failure(response, doing) : new Error(`${doing}: ${messageOf(response)}`);
    return response;
  };
  return {
    observe: async () => {
      const review = await sent(
        {
          method: "POST",
          path: "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
          body: {
            apiVersion: "authorization.k8s.io/v1",
            kind: "SelfSubjectAccessReview",
            spec: { resourceAttributes: { group: "apiextensions.k8s.io", resource: "customresourcedefinitions", verb: "create" } },
          },
        },
        "asking for your rights",
      );
      const { status } = review.body as { readonly status?: { readonly allowed?: boolean } };
      const query = { fieldSelector: `metadata.name=${KARPENTER_LEASE}` };
      const leases = await send({ method: "GET", path: "/apis/coordination.k8s.io/v1/leases", query });
      const { items = [] } = (leases.status === 200 ? leases.body : {}) as { readonly items?: readonly KubernetesLease[] };
      const running = runningKarpenter(items, now());
      return {
        mayInstall: status?.allowed === true,
        ...(running !== undefined && { karpenter: `${running.metadata.namespace}/${running.metadata.name}` }),
      };
    },
    list: async (type, query) => {
      const response = await send({ method: "GET", path: kindPathOf(type), ...(query !== undefined && { query }) });
      if (response.status === 404) return [];
      if (response.status >= 400) throw new Error(`listing ${type.kind}s: ${messageOf(response)}`);
      const { items = [] } = response.body as { readonly items?: readonly KubeObject[] };
      // The items of a list do not say their kind.
      return items.map((item) => ({ ...item, ...type }));
    },
    find: async (object) => {
      const response = await send({ method: "GET", path: pathOf(object) });
      if (response.status === 404) return undefined;
      if (response.status >= 400) throw new Error(`reading ${object.kind} ${object.metadata.name}: ${messageOf(response)}`);
      return response.body as KubeObject;
    },
    remove: async (object) => {
      const response = await send({ method: "DELETE", path: pathOf(object) });
      if (response.status >= 400 && response.status !== 404)
        throw new Error(`deleting ${object.kind} ${object.metadata.name}: ${messageOf(response)}`);
    },
    patch: async (object, change) => {
      await sent({ method: "PATCH", path: pathOf(object), body: change }, `changing ${object.kind} ${object.metadata.name}`);
    },
    apply: async (object) => {
      await sent(
        {
          method: "PATCH",
          path: pathOf(object),
          // What an earlier installation, or kubectl, has written is taken over.
          query: { fieldManager: FIELD_MANAGER, force: "true" },
          body: object,
          contentType: "application/apply-patch+yaml",
        },
        `applying ${object.kind} ${object.metadata.name}`,
      );
    },
  };
}

const pathOf = ({ apiVersion, kind, metadata: { name, namespace } }: KubeObject): string =>
  `${kindPathOf({ apiVersion, kind }, namespace)}/${name}`;

function kindPathOf({ apiVersion, kind }: Pick<KubeObject, "apiVersion" | "kind">, namespace?: string): string {
  const plural = PLURALS[kind];
  if (plural === undefined) throw new Error(`an installation knows no ${kind}`);
  const group = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  return `${group}${namespace === undefined ? "" : `/namespaces/${namespace}`}/${plural}`;
}
