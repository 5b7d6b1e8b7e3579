import { expect, it } from "vitest";
import { PRODUCT_FOLDERS } from "../support/folders.ts";
import { planted, readTree, type SourceTree } from "./source-tree.ts";

const SOURCES = readTree(PRODUCT_FOLDERS);

/** Files with a text. */
const filesWith = (tree: SourceTree, text: string): readonly string[] =>
  [...tree].flatMap(([file, source]) => (source.includes(text) ? [file] : []));

/**
 * Places that may hold a client without the border of adapters/kubernetes/managed-objects.ts: the composition
 * roots, which put the border around it, and what-if, whose transport refuses every write.
 */
const RAW = ["adapters/kubernetes/client.ts", "functions/wiring/clusters.ts", "cli/what-if/live.ts"];

it("only composition roots make a client that shows and writes what another controller serves", () => {
  expect(filesWith(SOURCES, "kubernetesClient(").toSorted()).toEqual(RAW.toSorted());
  const tree = planted(SOURCES, { "functions/lifecycle/own.ts": "const raw = kubernetesClient(connection);" });
  expect(filesWith(tree, "kubernetesClient(")).toContain("functions/lifecycle/own.ts");
});

it("only the border makes a ManagedKubernetes", () => {
  expect(filesWith(SOURCES, "as ManagedKubernetes")).toEqual(["adapters/kubernetes/managed-objects.ts"]);
});

it("only the snapshot reads the objects of every owner, and keeps them apart", () => {
  expect(filesWith(SOURCES, "everyOwner: true")).toEqual(["adapters/kubernetes/snapshot.ts"]);
});
