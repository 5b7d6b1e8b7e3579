import { type SignedCaller, signedFetch } from "#adapters/aws/signed-fetch.ts";
import { eventSourceOf, QUEUES, type QueueName } from "#infra/functions.ts";
import type { EventSources, StackResource } from "./ports.ts";

/** Lambda's API of one region. */
export function lambdaEventSources(caller: Omit<SignedCaller, "service">): EventSources {
  const ask = async (method: "GET" | "PUT", id: string, body?: object): Promise<Readonly<Record<string, unknown>>> => {
    const path = `/2015-03-31/event-source-mappings/${id}`;
    const response = await signedFetch(
      { ...caller, service: "lambda" },
      { method, path, ...(body !== undefined && { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }) },
    );
    const answer = (await response.json().catch(() => ({}))) as Readonly<Record<string, unknown>>;
    if (!response.ok) throw new Error(`event source ${id}: ${response.status} ${String(answer["Message"] ?? "")}`.trimEnd());
    return answer;
  };
  return {
    read: async (id) => {
      const { BatchSize, ScalingConfig } = await ask("GET", id);
      const { MaximumConcurrency: most } = (ScalingConfig ?? {}) as { readonly MaximumConcurrency?: number };
      return { batchSize: Number(BatchSize), ...(most !== undefined && most !== null && { maxConcurrency: Number(most) }) };
    },
    change: async (id, { batchSize, maxConcurrency }) => {
      const ScalingConfig = maxConcurrency === undefined ? undefined : { MaximumConcurrency: maxConcurrency };
      await ask("PUT", id, { BatchSize: batchSize, ...(ScalingConfig && { ScalingConfig }) });
    },
  };
}

/**
 * Gives each queue of a stack the concurrency of so many clusters, where it has another: clusters that are added do not
 * change the template. Returns the queues that were changed.
 */
export async function fitEventSources(
  resources: readonly StackResource[],
  clusters: number,
  { read, change }: EventSources,
): Promise<readonly QueueName[]> {
  const changed: QueueName[] = [];
  for (const { name, type, id } of resources) {
    if (type !== "AWS::Lambda::EventSourceMapping") continue;
    const queue = queueOf(name);
    if (queue === undefined) continue;
    const wanted = eventSourceOf(queue, clusters);
    const { batchSize, maxConcurrency } = await read(id);
    if (batchSize === wanted.batchSize && maxConcurrency === wanted.maxConcurrency) continue;
    await change(id, wanted);
    changed.push(queue);
  }
  return changed;
}

/** The queue of an event source, by its logical id: that of its function. */
function queueOf(logicalId: string): QueueName | undefined {
  const [, name = ""] = /^([A-Z][a-z]+)Source/.exec(logicalId) ?? [];
  const own = name === "Lifecycle" ? "claims" : name.toLowerCase();
  return Object.keys(QUEUES).find((queue): queue is QueueName => queue === own);
}
