import { inputFaults, modelOf } from "../account/service-models.ts";

/** A request of AWS: what it is signed for, its operation and its input in the form of the service's model. */
export interface Judged {
  readonly service: string;
  /** Undefined where the model has no such operation. */
  readonly operation: string | undefined;
  readonly input: unknown;
  /** Whether values have the types of the SDK; on the wire numbers and booleans are text. */
  readonly isTyped: boolean;
}

/** The names that requests of an SDK's client are signed for. */
const SERVICES: Readonly<Record<string, string>> = {
  DynamoDBClient: "dynamodb",
  EC2Client: "ec2",
  EKSClient: "eks",
  EventBridgeClient: "events",
  IAMClient: "iam",
  PricingClient: "pricing",
  SQSClient: "sqs",
  SSMClient: "ssm",
  STSClient: "sts",
};

export function commandOf({
  client,
  command,
  input,
}: {
  readonly client: string;
  readonly command: string;
  readonly input: unknown;
}): Judged {
  return { service: SERVICES[client] ?? client, operation: command.replace(/Command$/, ""), input, isTyped: true };
}

/** What is wrong with a request by the service's model; empty when AWS would accept its form. */
export function faultsOf({ service, operation: name, input, isTyped }: Judged): readonly string[] {
  const model = modelOf(service);
  const operation = name === undefined ? undefined : model?.operations[name];
  if (model === undefined || operation === undefined) return [`AWS has no operation ${service}:${name}`];
  return inputFaults(model, operation, input, isTyped).map((fault) => `${service}:${fault}`);
}
