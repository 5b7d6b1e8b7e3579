import { type AwsTarget, awsRequest } from "./aws-call.ts";

/**
 * Lambda begins with five batches of a standard queue at a time, and adds more over minutes (AWS Lambda: Configuring
 * scaling behavior for SQS event source mappings).
 */
const POLLERS = 5;

interface Mapping {
  readonly UUID: string;
  readonly ScalingConfig?: { readonly MaximumConcurrency?: number };
}

/**
 * Lets each queue feed its function with as many batches at a time as Lambda begins with. MiniStack starts as many
 * processes at once as the mapping allows, and their cold starts share the few cores of one machine.
 */
export async function limitPollers(target: AwsTarget): Promise<void> {
  const path = "/2015-03-31/event-source-mappings/";
  const { EventSourceMappings } = JSON.parse(await awsRequest(target, "lambda", { method: "GET", path })) as {
    readonly EventSourceMappings: readonly Mapping[];
  };
  const wide = EventSourceMappings.filter(({ ScalingConfig }) => (ScalingConfig?.MaximumConcurrency ?? 0) > POLLERS);
  const body = JSON.stringify({ ScalingConfig: { MaximumConcurrency: POLLERS } });
  const headers = { "content-type": "application/json" };
  for (const { UUID } of wide) await awsRequest(target, "lambda", { method: "PUT", path: `${path}${UUID}`, headers, body });
}
