import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { ec2Client } from "#adapters/aws/clients.ts";
import { describeCluster } from "#adapters/aws/describe-cluster.ts";
import { ec2Fleet } from "#adapters/aws/fleet.ts";
import { ownCaller } from "#adapters/aws/own-caller.ts";
import { secretText } from "#adapters/aws/secret.ts";
import { eksToken } from "#adapters/kubernetes/eks-token.ts";
import { httpsTransport, type Transport } from "#adapters/kubernetes/transport.ts";
import { clusterRecords } from "#adapters/store/cluster-records.ts";
import { dynamoNodeClaimStore } from "#adapters/store/dynamodb-store.ts";
import { dynamoClient, dynamoTable } from "#adapters/store/table-dynamodb.ts";
import { makeAddedStack, makeStacks, synthesized } from "#infra/synthesis.ts";
import { askAtTerminal } from "#terminal/ask.ts";
import { awsAccount } from "./account.ts";
import { s3Bucket } from "./bucket.ts";
import { cloudFormationChangeSets } from "./change-sets.ts";
import { clusterApi } from "./cluster-api.ts";
import { lambdaEventSources } from "./event-sources.ts";
import { awsInspector } from "./inspector.ts";
import { leftBehindOnAws } from "./left-behind.ts";
import { liveSettings } from "./live-settings.ts";
import type { InstallerPorts } from "./ports.ts";
import { cloudFormationStacks } from "./stacks.ts";

/** CloudFormation and Lambda answer slower than a function's own calls. */
const TIMEOUT_MS = 30_000;

/** AWS and the clusters of a region, with the credentials of the person who runs the command. */
export function awsPorts(region: string): InstallerPorts {
  const caller = (service: string) => ({ ...ownCaller(service, region), timeoutMs: TIMEOUT_MS });
  const { credentials } = caller("STS");
  return {
    synthesize: async (settings, outDir) => {
      synthesized(makeStacks({ settings, outDir }), settings, outDir);
    },
    synthesizeAdded: async (added) => {
      const { app, stack } = makeAddedStack(added);
      return JSON.stringify(app.synth().getStackByName(stack.stackName).template);
    },
    clusterRecords: (name) => clusterRecords(dynamoTable({ name, client: dynamoClient(region) })),
    records: (tableName) => dynamoNodeClaimStore({ tableName, client: dynamoClient(region) }),
    instances: (cluster) => ec2Fleet(ec2Client(region, credentials)).list(cluster),
    leftBehind: leftBehindOnAws(region, credentials, ownCaller("RESOURCE_GROUPS_TAGGING_API", region)),
    eventSources: lambdaEventSources(caller("LAMBDA")),
    account: awsAccount(region, credentials, caller("LAMBDA")),
    bucket: (account) => s3Bucket(account, caller("S3")),
    stacks: cloudFormationStacks(caller("CLOUDFORMATION")),
    changeSets: cloudFormationChangeSets(caller("CLOUDFORMATION")),
    inspector: awsInspector(region, (service) => ownCaller(service, region)),
    live: liveSettings(region, (service) => ownCaller(service, region)),
    clusterApi: (cluster) => clusterApi(eksTransport(cluster), Date.now),
    secret: (arn) => secretText(arn, caller("SECRETS_MANAGER")),
    confirm: askAtTerminal,
    now: Date.now,
    sleep: (ms) => sleep(ms),
    newId: randomUUID,
  };

  /** Asks EKS for the server at the first request. */
  function eksTransport(cluster: string): Transport {
    let made: Promise<Transport> | undefined;
    return async (request) => {
      made ??= describeCluster({ name: cluster, sources: [] }, credentials, region).then(({ endpoint, caBundle }) => {
        const token = eksToken({ cluster, region, credentials });
        return httpsTransport({ server: endpoint, caData: caBundle, token }).send;
      });
      return (await made)(request);
    };
  }
}
