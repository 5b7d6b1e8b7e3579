import { gzipSync } from "node:zlib";
import { clusterToken } from "#adapters/lambda/path-token.ts";
import spotInterruption from "../../events/spot-interruption.json" with { type: "json" };

// The environment and events of a cold start: one empty cluster, and the event that wakes each function most often.

const ACCOUNT = "111122223333";
const REGION = "us-west-2";
/** What the stand-in of Secrets Manager says that each secret holds. */
export const TOKEN = "0123456789abcdef";
const SECRET = "arn:aws:secretsmanager:us-west-2:111122223333:secret:token";

/** Environment variables of every function, with the addresses of the stand-ins. */
export function variablesFor({ fake, tables }: { readonly fake: string; readonly tables: string }): Readonly<Record<string, string>> {
  const queue = (name: string): string => `${tables}/${ACCOUNT}/${name}`;
  return {
    AWS_REGION: REGION,
    AWS_ACCESS_KEY_ID: "ASIAEXAMPLE",
    AWS_SECRET_ACCESS_KEY: "secret",
    AWS_SESSION_TOKEN: "token",
    TABLE_NAME: "karpenter-serverless",
    CLUSTERS: JSON.stringify([{ name: "c1", sources: ["audit", "notify", "sweep"] }]),
    PROVISION_QUEUE_URL: queue("provision.fifo"),
    CLAIM_QUEUE_URL: queue("claims"),
    DISRUPTION_QUEUE_URL: queue("disruption"),
    CATALOG_QUEUE_URL: queue("catalog"),
    NOTIFY_TOKEN: SECRET,
    ADMISSION_TOKEN: SECRET,
    METRICS_TOKEN: SECRET,
    ...Object.fromEntries(["EC2", "SSM", "PRICING", "EKS", "IAM", "STS"].map((service) => [`AWS_ENDPOINT_URL_${service}`, fake])),
    ...Object.fromEntries(["DYNAMODB", "SQS", "SECRETS_MANAGER"].map((service) => [`AWS_ENDPOINT_URL_${service}`, tables])),
  };
}

/** The event of a function: a wake-up for functions with a queue, an unschedulable pod for the others. */
export function eventFor(name: string): unknown {
  switch (name) {
    case "audit":
      return { awslogs: { data: gzipSync(JSON.stringify(logData)).toString("base64") } };
    case "notify":
      return urlCall(`/v1/c1/${clusterToken(TOKEN, "c1")}`, review);
    case "admission":
      return urlCall(`/v1/c1/${clusterToken(TOKEN, "c1")}/validate`, poolReview);
    case "metrics":
      return { ...urlCall("/metrics", {}), headers: { authorization: `Bearer ${TOKEN}` }, requestContext: { http: { method: "GET" } } };
    case "interruption":
      return message(spotInterruption);
    case "lifecycle":
      return message({ kind: "claim", cluster: "c1", claim: "default-abcde" });
    default:
      return message({ kind: name, cluster: "c1", reason: "a cold start" });
  }
}

const review = {
  apiVersion: "admission.k8s.io/v1",
  kind: "AdmissionReview",
  request: {
    uid: "1",
    operation: "CREATE",
    resource: { group: "events.k8s.io", version: "v1", resource: "events" },
    namespace: "default",
    name: "web.1",
    object: { reason: "FailedScheduling", regarding: { kind: "Pod", namespace: "default", name: "web" } },
  },
};
const poolReview = {
  ...review,
  request: {
    uid: "1",
    operation: "CREATE",
    kind: { group: "karpenter.sh", version: "v1", kind: "NodePool" },
    resource: { group: "karpenter.sh", version: "v1", resource: "nodepools" },
    name: "default",
    object: {
      apiVersion: "karpenter.sh/v1",
      kind: "NodePool",
      metadata: { name: "default" },
      spec: {
        template: { spec: { requirements: [], nodeClassRef: { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" } } },
      },
    },
  },
};
const record = {
  kind: "Event",
  apiVersion: "audit.k8s.io/v1",
  stage: "ResponseComplete",
  verb: "patch",
  user: { username: "system:kube-scheduler" },
  objectRef: { resource: "pods", subresource: "status", namespace: "default", name: "web" },
  responseStatus: { code: 200 },
  responseObject: { status: { conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable" }] } },
};
const logData = {
  messageType: "DATA_MESSAGE",
  logGroup: "/aws/eks/c1/cluster",
  logEvents: [{ id: "1", timestamp: 0, message: JSON.stringify(record) }],
};

const urlCall = (rawPath: string, body: object) => ({ version: "2.0", rawPath, body: JSON.stringify(body), isBase64Encoded: false });

const message = (body: object) => ({
  Records: [{ messageId: "1", body: JSON.stringify(body), eventSource: "aws:sqs", attributes: { MessageGroupId: "c1" } }],
});
