import { existsSync } from "node:fs";
import { clockOf, LAB_CLUSTER } from "#adapters/store/kept-table.ts";
import type { NodeClaimStore } from "#core/ports/node-claim-store.ts";
import { InputError } from "#terminal/input-error.ts";
import { tableOf } from "../stack-table.ts";

/** The words that name a source (options.ts). */
export interface SourceChoice {
  readonly cluster?: string | undefined;
  readonly stack?: string | undefined;
  readonly table?: string | undefined;
  readonly region?: string | undefined;
  readonly from?: string | undefined;
}

/** A cluster's history, and the moment that counts as now, ms: that at which the lab ended for a file. */
export interface HistorySource {
  readonly cluster: string;
  readonly now: number;
  readonly store: Pick<NodeClaimStore, "history" | "list" | "getDocument">;
  close(): void;
}

/**
 * Opens the history that the words name: with the caller's own AWS credentials, which need dynamodb:Query on the table
 * and, without --table, cloudformation:DescribeStacks. No cluster is reached. Throws InputError.
 */
export async function openSource({
  cluster,
  stack,
  table,
  region = process.env["AWS_REGION"] ?? "",
  from,
}: SourceChoice): Promise<HistorySource> {
  if (from !== undefined) return openFile(from, cluster);
  if (cluster === undefined) throw new InputError("say whose history to read: --cluster NAME, or --from FILE for what the lab kept");
  if (region === "") throw new InputError("say in which region the cluster is: --region us-west-2, or set AWS_REGION");
  const tableName = await tableOf({ ...(table !== undefined && { table }), ...(stack !== undefined && { stack }) }, region);
  const [{ dynamoNodeClaimStore }, { dynamoClient }] = await Promise.all([
    import("#adapters/store/dynamodb-store.ts"),
    import("#adapters/store/table-dynamodb.ts"),
  ]);
  return { cluster, now: Date.now(), store: dynamoNodeClaimStore({ tableName, client: dynamoClient(region) }), close: () => {} };
}

async function openFile(file: string, cluster = LAB_CLUSTER): Promise<HistorySource> {
  if (!existsSync(file)) throw new InputError(`there is no file ${file}; the lab makes it: npm start -- my-manifests/ --history ${file}`);
  const { embeddedNodeClaimStore } = await import("#adapters/store/embedded-store.ts");
  try {
    const store = embeddedNodeClaimStore({ path: file });
    const now = await clockOf(store);
    if (now === undefined) throw new Error("it does not say when the lab ended");
    return { cluster, now, store, close: () => store.close() };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new InputError(`${file} is no file of the lab (${why}); make one: npm start -- my-manifests/ --history FILE`);
  }
}

/** Runs `read` on the source and closes it. Errors of AWS become an InputError, because the caller can fix them. */
export async function withSource<T>(choice: SourceChoice, read: (source: HistorySource) => Promise<T>): Promise<T> {
  const source = await openSource(choice);
  try {
    return await read(source);
  } catch (error) {
    if (error instanceof InputError) throw error;
    throw new InputError(
      `the history of cluster ${source.cluster} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    );
  } finally {
    source.close();
  }
}
