// `cli convert`: makes v1 manifests of manifests for Karpenter's older APIs.
// In: files and folders of YAML or JSON. Out: the same files with v1 objects and their comments, and a sentence on
// standard error for whatever a person has to decide. It must know no cluster; what needs no conversion stays as it is.

import { defineCommand } from "#terminal/command.ts";

export const convertCommand = defineCommand({
  name: "convert",
  summary: "Converts manifests of Karpenter's older APIs (v1alpha5, v1alpha1, v1beta1) to v1",
  positionals: {
    name: "PATH",
    description: 'files and folders with manifests; "-" is standard input',
    isRequired: false,
    isList: true,
  },
  options: {
    filename: { type: "list", short: "f", value: "PATH", description: "the same as PATH, as kubectl takes it" },
    out: { type: "text", value: "FOLDER", description: "an empty folder to write to, file by file; standard output when absent" },
  },
  run: async ({ values: { filename, out }, positionals }) => {
    const { convertFiles } = await import("./files.ts");
    return convertFiles({ paths: [...positionals, ...filename], ...(out !== undefined && { out }) });
  },
});
