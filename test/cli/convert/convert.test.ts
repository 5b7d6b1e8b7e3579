import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseAllDocuments, stringify } from "yaml";
import { type Conversion, convert } from "#cli/convert/convert.ts";
import { convertFiles } from "#cli/convert/files.ts";
import { schemaProblems } from "#manifests/crd-schema.ts";
import { InputError } from "#terminal/input-error.ts";
import { nodeClaimBeta, nodeClassBeta, nodePoolBeta, shapelessSpec } from "../../core/conversion/arbitraries.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const folder = join(import.meta.dirname, "cases");

function convertText(text: string, name = "in.yaml"): Conversion & { readonly text: string } {
  const conversion = convert([{ name, relativeName: name, text }]);
  return { ...conversion, text: conversion.files[0]?.text ?? "" };
}

const readInput = (name: string): string => readFileSync(join(folder, `${name}.in.yaml`), "utf8");

/** The manifests of the folder, most of them as people once published them. Their output stands beside them. */
const MANIFESTS: readonly { readonly name: string; readonly messages: readonly RegExp[]; readonly isValid: boolean }[] = [
  {
    name: "provisioner-and-template",
    messages: [/line 34 .*AWS makes no AL2 images/, /line 34 .*50 has no unit/],
    isValid: true,
  },
  {
    name: "provider-block",
    messages: [/AWS makes no AL2 images/, /spec.subnetSelectorTerms is missing/, /spec.securityGroupSelectorTerms is missing/],
    isValid: false,
  },
  { name: "kustomize-pool", messages: [], isValid: true },
  { name: "v1-with-placeholders", messages: [], isValid: true },
  {
    name: "v1-spot",
    messages: [/line 17 .*spec.subnetSelectorTerms is missing/, /line 17 .*spec.securityGroupSelectorTerms is missing/],
    isValid: false,
  },
  { name: "shared-class", messages: [], isValid: true },
  { name: "list", messages: [/Deployment inflate.*write karpenter.sh\/nodepool/], isValid: true },
  {
    name: "launch-template",
    messages: [
      /aws.defaultInstanceProfile/,
      /AWS makes no AL2 images/,
      /launchTemplate "my-template" has no counterpart/,
      /spec.clusterName is no field/,
      /spec.securityGroupSelectorTerms is missing/,
    ],
    isValid: false,
  },
];

describe("manifests", () => {
  it("a placeholder in angle brackets is kept as it is, and not judged", () => {
    const text = readInput("v1-with-placeholders").replace(/role: .*/, "role: <<NODE_ROLE>>");
    expect(text).toContain("<<NODE_ROLE>>");
    const converted = convertText(text);
    expect(converted.text).toContain("role: <<NODE_ROLE>>");
    expect(converted.messages).toEqual([]);
  });

  it("in the folder are all in the table of this test", () => {
    const inputs = readdirSync(folder).filter((name) => name.endsWith(".in.yaml"));
    expect(MANIFESTS.map(({ name }) => `${name}.in.yaml`).sort()).toEqual(inputs.sort());
  });

  it.for(MANIFESTS)("$name", async ({ name, messages, isValid }) => {
    const result = convertText(readInput(name));
    await expect(result.text).toMatchFileSnapshot(join(folder, `${name}.out.yaml`));
    expect(result.messages).toEqual(messages.map((message) => expect.stringMatching(message)));
    expect(result.isValid).toBe(isValid);
  });

  it.for(MANIFESTS)("$name, converted again, stays the same", ({ name }) => {
    const once = convertText(readInput(name)).text;
    expect(convertText(once).text).toBe(once);
  });

  it.for(MANIFESTS)("$name keeps every placeholder and every comment", ({ name }) => {
    const input = readInput(name);
    const output = convertText(input).text;
    const words = (text: string, pattern: RegExp): readonly string[] => [...new Set(text.match(pattern) ?? [])].sort();
    for (const placeholder of words(input, /\$\{\w+\}|<<<[^>]+>>>|\{\{[^}]+\}\}/g)) expect(output).toContain(placeholder);
    for (const comment of words(input, /(?<=(^|\s)# ).*/gm)) expect(output).toContain(comment);
  });

  it("that need no conversion are returned unchanged, whatever they are", () => {
    for (const text of [readInput("v1-with-placeholders"), "", "# nothing\n", "{{- if .Values.x }}\nnot: yaml\n{{- end }}\n", "a: [\n"]) {
      expect(convertText(text).text).toBe(text);
    }
  });
});

/** Random braces and dollars may form placeholders that cannot be read. */
function textOrSentence(text: string): string {
  try {
    return convertText(text).text;
  } catch (error) {
    if (error instanceof InputError) return error.message;
    throw error;
  }
}

describe("the output", () => {
  it("satisfies our CRDs", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(nodePoolBeta, nodeClassBeta, nodeClaimBeta), { minLength: 1, maxLength: 3 }), (objects) => {
        const { text } = convertText(objects.map((object) => stringify(object, { aliasDuplicateObjects: false })).join("---\n"));
        for (const document of parseAllDocuments(text)) {
          const object = "toJS" in document ? (document.toJS() as { readonly kind: string }) : { kind: "" };
          expect(schemaProblems(object.kind, object)).toEqual([]);
        }
      }),
      { numRuns: 30 },
    );
  });

  it("of objects of any shape is converted or refused in a sentence, never with an exception", () => {
    const kind = fc.constantFrom(
      ["karpenter.sh/v1alpha5", "Provisioner"],
      ["karpenter.sh/v1alpha5", "Machine"],
      ["karpenter.k8s.aws/v1alpha1", "AWSNodeTemplate"],
      ["karpenter.sh/v1beta1", "NodePool"],
      ["karpenter.k8s.aws/v1beta1", "EC2NodeClass"],
    );
    const shapeless = fc.tuple(kind, fc.oneof(fc.jsonValue(), shapelessSpec), fc.oneof(fc.constant({ name: "a" }), fc.jsonValue()));
    fc.assert(
      fc.property(fc.array(shapeless, { minLength: 1, maxLength: 3 }), (objects) => {
        const texts = objects.map(([[apiVersion, kind], spec, metadata]) => stringify({ apiVersion, kind, metadata, spec }));
        expect(textOrSentence(texts.join("---\n"))).toMatch(/apiVersion: karpenter|this is not valid YAML|this is a Helm template/);
      }),
      { numRuns: 60, examples: [[[[["karpenter.sh/v1alpha5", "Provisioner"], { ttlSecondsUntilExpired: { toString: null } }, {}]]]] },
    );
  });

  it("of JSON is YAML, with comments", () => {
    const pool = {
      apiVersion: "karpenter.sh/v1alpha5",
      kind: "Provisioner",
      metadata: { name: "a" },
      spec: { providerRef: { name: "b" } },
    };
    const { text } = convertText(JSON.stringify(pool), "in.json");
    expect(text).toMatch(/^apiVersion: karpenter.sh\/v1\nkind: NodePool\n/);
    expect(text).toContain("# convert: this and what follows were defaults of v1alpha5");
  });

  it("has the line ends of the input", () => {
    const { text } = convertText(readInput("kustomize-pool").replaceAll("\n", "\r\n"));
    expect(text.replaceAll("\r\n", "")).not.toMatch(/[\r\n]/);
  });

  it("uses the EC2NodeClass of another file", () => {
    const [pool = "", , nodeClass = ""] = readInput("shared-class").split("---\n");
    const files = [pool, nodeClass].map((text, i) => ({ name: `${i}.yaml`, relativeName: `${i}.yaml`, text }));
    expect(convert(files).files[1]?.text).toContain("maxPods: 20 # per node");
  });
});

describe("bad input is one sentence with its place", () => {
  const old = "apiVersion: karpenter.sh/v1beta1\nkind: NodePool\n";
  it.for([
    { name: "no YAML", text: `a: 1\n---\n${old}metadata: [\n`, says: /^in.yaml, line 6: this is not valid YAML: / },
    { name: "a merge of nothing", text: `${old}spec:\n  <<: text\n`, says: /^in.yaml, line 1: this is not valid YAML: Merge sources/ },
    { name: "Helm", text: `${old}metadata:\n  {{- include "labels" . }}\n`, says: /^in.yaml, line 4: this is a Helm template; render it/ },
  ])("$name", ({ text, says }) => {
    expect(() => convertText(text)).toThrow(InputError);
    expect(() => convertText(text)).toThrow(says);
  });

  it("settings in a ConfigMap belong to the stack now", () => {
    const { messages, text } = convertText("kind: ConfigMap\nmetadata: {name: karpenter-global-settings}\ndata: {batchMaxDuration: 9s}\n");
    expect(messages).toEqual([expect.stringContaining('"settings": {"BATCH_MAX_DURATION":"9s"} in infra/clusters.json')]);
    expect(text).toContain("data: {batchMaxDuration: 9s}");
  });

  it("a version that never existed", () => {
    const { messages, isValid } = convertText("apiVersion: karpenter.sh/v2\nkind: NodePool\nmetadata:\n  name: a\n");
    expect(messages).toEqual([expect.stringContaining("NodePool is given as karpenter.sh/v2; convert it to karpenter.sh/v1")]);
    expect(isValid).toBe(false);
  });
});

describe("files and folders", () => {
  const old =
    "apiVersion: karpenter.sh/v1beta1\nkind: NodePool\nmetadata:\n  name: a\nspec:\n  template:\n    spec:\n      nodeClassRef:\n        name: b\n";

  function tree(): string {
    const root = temporaryFolder("convert");
    mkdirSync(join(root, "pools"));
    writeFileSync(join(root, "pools", "a.yaml"), old);
    writeFileSync(join(root, "other.json"), "{}");
    writeFileSync(join(root, "notes.md"), "karpenter.sh/v1beta1 was here");
    return root;
  }

  it("become one stream of documents", () => {
    const root = tree();
    const { output } = convertFiles({ paths: [root, join(root, "pools", "a.yaml")] });
    expect(output.split(/^---$/m)).toHaveLength(3);
    expect(output).toContain("apiVersion: karpenter.sh/v1\n");
  });

  it("become files of the same names in a folder, and no file is overwritten", () => {
    const root = tree();
    const out = join(root, "v1");
    const paths = [join(root, "pools")];
    expect(convertFiles({ paths, out }).output).toBe(`${join(out, "a.yaml")}\n`);
    expect(readFileSync(join(out, "a.yaml"), "utf8")).toContain("group: karpenter.k8s.aws");
    expect(() => convertFiles({ paths, out })).toThrow(/v1 is not empty, it holds a.yaml; name an empty or a new folder with --out$/);
  });

  it.for([
    { name: "no path", paths: [], says: /name the manifests to convert/ },
    { name: "a path that is not there", paths: ["/no/such/file"], says: /there is no file or folder \/no\/such\/file/ },
  ])("are refused in one sentence: $name", ({ paths, says }) => {
    expect(() => convertFiles({ paths })).toThrow(says);
  });
});
