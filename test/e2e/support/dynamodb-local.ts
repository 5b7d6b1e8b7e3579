import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type AwsTarget, awsJson } from "./aws-call.ts";
import { freePort, run, startChild } from "./child.ts";
import { cacheDir, supportDir } from "./paths.ts";

/** A running DynamoDB Local: in memory, one database for every key and region. */
export type DynamoDbLocal = { readonly url: string; readonly stop: () => Promise<void> };

/** Downloads the jars once (50 MB), compiles the launcher, and returns the class path. */
export async function installDynamoDbLocal(): Promise<{ readonly classPath: string; readonly lib: string }> {
  const dir = cacheDir("dynamodb-local");
  const lib = join(dir, "lib");
  const source = join(supportDir, "dynamodb");
  const classPath = `${dir}:${join(lib, "*")}`;
  const stamp = join(dir, "installed.txt");
  const wanted = ["pom.xml", "Launcher.java"].map((name) => readFileSync(join(source, name), "utf8")).join("\n");
  if (!existsSync(stamp) || readFileSync(stamp, "utf8") !== wanted) {
    await run("mvn", ["-q", "-B", "-f", join(source, "pom.xml"), "dependency:copy-dependencies", `-DoutputDirectory=${lib}`]);
    await run("javac", ["-cp", classPath, "-d", dir, join(source, "Launcher.java")]);
    writeFileSync(stamp, wanted);
  }
  return { classPath, lib };
}

/**
 * Starts DynamoDB Local on a free port of 127.0.0.1 (about 1.5 s). Needs Java 17 or later, and Maven the first time.
 */
export async function startDynamoDbLocal(options: { readonly dataDir: string }): Promise<DynamoDbLocal> {
  const { classPath, lib } = await installDynamoDbLocal();
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const child = await startChild({
    name: "DynamoDB Local",
    command: "java",
    args: [
      ...["-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", `-Dsqlite4java.library.path=${lib}`, "-cp", classPath],
      ...["Launcher", "-inMemory", "-sharedDb", "-port", String(port), "-disableTelemetry"],
    ],
    logFile: join(options.dataDir, "dynamodb-local.log"),
    // A 400 to a request without a signature shows that the server is ready.
    isReady: async () => (await fetch(url)).status === 400,
  });
  return { url, stop: child.stop };
}

/**
 * Creates the tables of a stack in MiniStack also in DynamoDB Local: keys, indexes and streams, no items. An existing
 * table is not changed.
 */
export async function copyTables(options: { readonly from: AwsTarget; readonly dynamodb: DynamoDbLocal }): Promise<readonly string[]> {
  const { from, dynamodb } = options;
  const to = { ...from, url: dynamodb.url };
  const call = async <T>(target: AwsTarget, operation: string, input: unknown): Promise<T> =>
    await awsJson<T>(target, "dynamodb", `DynamoDB_20120810.${operation}`, input);
  const { TableNames } = await call<{ TableNames: string[] }>(from, "ListTables", {});
  const { TableNames: there } = await call<{ TableNames: string[] }>(to, "ListTables", {});
  for (const TableName of TableNames.filter((name) => !there.includes(name))) {
    const { Table } = await call<{ Table: TableDescription }>(from, "DescribeTable", { TableName });
    const indexes = Table.GlobalSecondaryIndexes?.map(({ IndexName, KeySchema, Projection }) => ({ IndexName, KeySchema, Projection }));
    await call(to, "CreateTable", {
      TableName,
      BillingMode: "PAY_PER_REQUEST",
      AttributeDefinitions: Table.AttributeDefinitions,
      KeySchema: Table.KeySchema,
      ...(indexes === undefined || indexes.length === 0 ? {} : { GlobalSecondaryIndexes: indexes }),
      ...(Table.StreamSpecification === undefined ? {} : { StreamSpecification: Table.StreamSpecification }),
    });
  }
  return TableNames;
}

type TableDescription = {
  readonly AttributeDefinitions: unknown;
  readonly KeySchema: unknown;
  readonly GlobalSecondaryIndexes?: readonly { readonly IndexName: string; readonly KeySchema: unknown; readonly Projection: unknown }[];
  readonly StreamSpecification?: unknown;
};
