import { cpSync } from "node:fs";
import { join } from "node:path";
import { defineConfig } from "vitepress";
import { PAGES } from "./pages.ts";

// The site of the documents: `npm --prefix docs ci && npm --prefix docs run build` makes docs/.vitepress/dist. A link
// to a page that is not there fails the build.

export default defineConfig({
  title: "karpenter-serverless",
  description: "A node autoscaler for EKS without controller pods",
  lang: "en",
  cleanUrls: true,
  // Texts have placeholders such as <NAME>, which are no HTML.
  markdown: { html: false },
  buildEnd: ({ srcDir, outDir }) => {
    for (const folder of ["schemas", "data"]) cpSync(join(srcDir, folder), join(outDir, folder), { recursive: true });
  },
  themeConfig: {
    sidebar: PAGES.map(({ text, items }) => ({ text, items: [...items] })),
    search: { provider: "local" },
    outline: [2, 3],
  },
});
