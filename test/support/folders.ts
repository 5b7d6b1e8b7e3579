/** The folders of the product's sources, from the project's root. package.json names the same, and test, by "#…". */
export const PRODUCT_FOLDERS: readonly string[] = [
  "adapters",
  "cli",
  "console",
  "core",
  "functions",
  "infra",
  "installer",
  "lab",
  "manifests",
  "settings",
  "terminal",
];
