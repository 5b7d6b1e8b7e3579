import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { clusterSource, type Readable } from "#cli/view/clusters.ts";
import { liveSource } from "#cli/what-if/live.ts";
import { serveView } from "#console/server/serve.ts";
import { clusterOverview, podOverviews } from "#core/insight/overview/cluster.ts";
import type { ViewIndex } from "#core/insight/overview/types.ts";
import { DEFAULT_SETTINGS } from "#functions/wiring/settings.ts";
import { InputError } from "#terminal/input-error.ts";
import { clusterFile } from "../bench/consolidate-clusters.ts";
import { troubledHour } from "../cli/history/course.ts";
import { nodePool, pdb, pod, snapshot, TYPES } from "../core/disruption/builders.ts";
import { DOCUMENTED } from "../support/documented.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { BROWSER, FLAGS, pictureOf, SIZE } from "./browser.ts";

/**
 * The page in a real browser: Debian's chromium, driven by playwright-core. Checks what a reader sees of the lab, of a
 * thousand nodes, of a what-if and of hostile names, asks axe-core about each section in light and dark, and prints
 * how fast it is. `--pictures FOLDER` also writes pictures. Needs chromium (`apt-get install chromium`).
 */
const ROOT = join(import.meta.dirname, "../..");
const folder = temporaryFolder("view");
const children: ChildProcess[] = [];
/** What a check has opened, so that a failed one leaves nothing open. */
const closers: (() => Promise<void>)[] = [];

/** Starts a command of the program that serves a page. Returns its URL. */
async function served(...args: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", ...args], {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "inherit"],
  });
  children.push(child);
  let printed = "";
  return await new Promise((resolve, reject) => {
    child.stdout?.on("data", (part: Buffer) => {
      printed += part.toString();
      const [, url] = /The page: (\S+)/.exec(printed) ?? [];
      if (url !== undefined) resolve(url);
    });
    child.once("exit", (code) => reject(new Error(`${args.join(" ")} ended with ${code}: ${printed}`)));
  });
}

/** Ends a command as Ctrl-C does. Returns its exit code. */
async function interrupted(child: ChildProcess): Promise<number | null> {
  const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
  child.kill("SIGINT");
  return await ended;
}

/** A page that reports its own errors, and whatever the policy of its server refuses. */
async function opened(browser: Browser, url: string, theme: "light" | "dark" = "light"): Promise<Page> {
  const context = await browser.newContext({ viewport: SIZE, colorScheme: theme });
  const page = await context.newPage();
  page.on("pageerror", (error) => faults.push(`${url}: ${error.message}`));
  page.on("console", (message) => {
    if (message.type() === "error") faults.push(`${url}: ${message.text()}`);
  });
  await page.goto(url);
  return page;
}
const faults: string[] = [];

interface Violation {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string }[];
}

/** What axe finds to be serious or critical. */
async function seriousFaults(page: Page): Promise<readonly string[]> {
  // The policy of the page lets no inline script run, so axe comes through the debugger's own world.
  await page.evaluate(readFileSync(join(ROOT, "node_modules/axe-core/axe.min.js"), "utf8"));
  const found = (await page.evaluate("axe.run().then(({ violations }) => violations)")) as readonly Violation[];
  return found
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, impact, nodes }) => `${impact} ${id}: ${nodes[0]?.html.slice(0, 200)}`);
}

/** A small cluster with something in each section. */
function sectionsFile(): string {
  const file = join(folder, "sections.json");
  const left = {
    status: { phase: "Pending", conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable" }] },
  } as const;
  const machines = [
    { name: "n1" },
    { name: "n2", capacityType: "spot" },
    { name: "n3", ready: false },
    { name: "n4", deletionTimestamp: "2026-01-01T11:59:00Z" },
  ];
  const pods = [
    pod("p", "n1"),
    pod("q", "n2"),
    pod("z", "n4"),
    { ...pod("big"), ...left, spec: { containers: [{ name: "c", resources: { requests: { cpu: "99" } } }] } },
  ];
  const { instanceTypes: _, ...lists } = snapshot({ machines, pods, pdbs: [pdb("web")] });
  const young = {
    metadata: { name: "young", uid: "u", creationTimestamp: "2026-01-01T11:59:50Z", labels: { "karpenter.sh/nodepool": "default" } },
    spec: { requirements: [], nodeClassRef: { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" } },
  };
  writeFileSync(
    file,
    JSON.stringify({ ...lists, nodeClaims: [...lists.nodeClaims, young], now: "2026-01-01T12:00:00Z", instanceTypes: TYPES }),
  );
  return file;
}

/** What is different of a cluster without nodes. */
const NOTHING = { nodes: [], nodeClaims: [], pods: [] } as const;

const checks: Readonly<Record<string, (browser: Browser) => Promise<void>>> = {
  "the lab's three stories play, scrub, and lead from a line to its time": async (browser) => {
    const url = await served("lab/main.ts", "--view");
    const page = await opened(browser, url);
    // The first story plays by itself.
    await page.getByRole("button", { name: "Pause" }).waitFor();
    await page.getByText("launched nodeclaim").first().waitFor();
    await page.getByRole("button", { name: "Pause" }).click();
    const index = (await (await fetch(`${url}data/index.json`)).json()) as ViewIndex;
    assert.deepEqual(
      index.stories?.map(({ name }) => name),
      ["inflate", "up-and-down", "interruption"],
    );
    for (const { name, title, frames } of index.stories ?? []) {
      await page.getByRole("combobox", { name: "Story" }).selectOption(name);
      await page.getByRole("heading", { name: title }).waitFor();
      await page.getByRole("button", { name: "Pause" }).click();
      const busiest = frames.findLastIndex(({ nodes }) => nodes === Math.max(...frames.map((frame) => frame.nodes)));
      await page.goto(`${url}#nodes?story=${name}&at=${busiest}`);
      await page.reload();
      await page.locator(".grid-row").first().waitFor();
      assert.equal(await page.locator(".grid-row").count(), frames[busiest]?.nodes);
      await pictureOf(page, `lab-${name}`);
    }
    const scrubber = page.getByRole("slider", { name: "Time of the story" });
    await scrubber.focus();
    const before = await scrubber.getAttribute("aria-valuetext");
    await scrubber.press("ArrowLeft");
    assert.notEqual(await scrubber.getAttribute("aria-valuetext"), before);
    await page.locator(".narrative li button").first().click();
    await page.getByText("nothing to pay").waitFor();
    for (const theme of ["light", "dark"] as const) {
      await page.getByRole("combobox", { name: "Theme" }).selectOption(theme);
      assert.deepEqual(await seriousFaults(page), [], theme);
    }
  },

  "a thousand nodes and ten thousand pods: searched, sorted, opened, fluent": async (browser) => {
    const file = clusterFile({ kind: "spot-mix", seed: 1, nodes: 1_000 });
    const url = await served("cli/main.ts", "view", file);
    const began = performance.now();
    const page = await opened(browser, url);
    await page.locator(".grid-row").first().waitFor();
    const first = performance.now() - began;
    assert.equal(await page.getByRole("grid", { name: "Nodes" }).getAttribute("aria-rowcount"), "1001");
    assert.ok((await page.locator(".grid-row").count()) < 60, "rows that are out of sight are not in the document");
    const rates: Record<string, string> = {};
    for (const section of ["nodes", "pods"]) {
      await page.goto(`${url}#${section}`);
      await page.locator(".grid-row").first().waitFor();
      rates[section] = await scrolled(page);
    }
    await page.goto(`${url}#nodes`);
    // What would be decided comes after the first picture.
    await page
      .getByRole("gridcell", { name: /^(goes|stays)/ })
      .first()
      .waitFor({ timeout: 120_000 });
    await pictureOf(page, "thousand-nodes");
    await page.getByRole("searchbox").fill("spot cpu<50 -zone:us-west-2a");
    await page.waitForFunction("!document.querySelector('.search [role=status]').textContent.startsWith('1,000')");
    await page.getByRole("button", { name: "Node", exact: true }).click();
    await page.getByRole("grid").focus();
    for (const key of ["End", "Home", "PageDown", "ArrowDown", "Enter"]) await page.keyboard.press(key);
    const details = page.getByRole("complementary");
    await details.waitFor();
    const name = (await details.getByRole("heading", { level: 2 }).textContent()) ?? "";
    assert.match(page.url(), new RegExp(`node=${name}\\b`));
    await details.getByText(/^\d+ pods?$/).waitFor();
    // The link leads another reader to the same place.
    const copy = await opened(browser, page.url());
    await copy.getByRole("heading", { name, level: 2 }).waitFor();
    assert.equal(await copy.getByRole("searchbox").inputValue(), "spot cpu<50 -zone:us-west-2a");
    await page.keyboard.press("Escape");
    await details.waitFor({ state: "detached" });
    await page.goto(`${url}#disruption`);
    await page.getByText("Why the other nodes stay").waitFor();
    await pictureOf(page, "disruption");
    const bytes = (await page.evaluate(
      "performance.getEntriesByType('resource').map((one) => one.name.split('/').at(-1) + ' ' + one.transferSize)",
    )) as readonly string[];
    console.log(
      `load ${loadavg()[0]?.toFixed(1)} on ${cpus().length} processors; 1,000 nodes, 10,000 pods: first picture after ${Math.round(first)} ms; frames a second while scrolling: nodes ${rates["nodes"]}; pods ${rates["pods"]}; bytes: ${bytes.join(", ")}`,
    );
  },

  "a what-if shows the bills, before and after, and each node's fate": async (browser) => {
    const file = join(folder, "what-if.json");
    const machines = Array.from({ length: 12 }, (_, i) => ({ name: `n${i}`, type: i % 3 === 0 ? "huge" : "large" }));
    const pods = machines.map(({ name }, i) => pod(`web-${i}`, name));
    const { instanceTypes: _, ...lists } = snapshot({ pools: [nodePool("default", { consolidateAfter: "Never" })], machines, pods });
    writeFileSync(file, JSON.stringify({ ...lists, now: "2026-01-01T12:00:00Z", instanceTypes: TYPES }));
    const url = await served(
      "cli/main.ts",
      "what-if",
      file,
      "--quiet",
      "--view",
      "--set",
      "nodepool/default.spec.disruption.consolidateAfter=30s",
    );
    const page = await opened(browser, url);
    await page.getByText(/^saves \$/).waitFor();
    await page.getByRole("grid", { name: "Today" }).waitFor();
    assert.equal(await page.getByRole("grid", { name: "Today" }).getAttribute("aria-rowcount"), "13");
    await page.getByRole("grid", { name: "Today" }).getByText("n0", { exact: true }).click();
    await page.locator(".opened").getByText("n0", { exact: true }).waitFor();
    await pictureOf(page, "what-if");
    for (const theme of ["dark", "light"] as const) {
      await page.getByRole("combobox", { name: "Theme" }).selectOption(theme);
      assert.deepEqual(await seriousFaults(page), [], theme);
    }
    await page.getByRole("button", { name: "after" }).click();
    await page.getByRole("grid", { name: "Nodes" }).waitFor();
  },

  "names that are HTML are text": async (browser) => {
    const names = [
      '<img src=x onerror="document.title=1">',
      "</script><script>document.title=1</script>",
      "a\u202eb\u0000\u0007",
      `"onmouseover="x`,
      "x".repeat(5_000),
    ];
    const [image = "", script = ""] = names;
    // The API server takes no such name, and a file with one is refused: the data are given to the server itself.
    const machines = [{ name: "n1" }, { name: image }];
    const state = {
      snapshot: snapshot({ machines, pods: names.map((name) => pod(name, "n1")), pdbs: [pdb(script)] }),
      records: [],
      commands: [],
    };
    const overview = clusterOverview(script, state, undefined, [image]);
    const view = await serveView({
      index: () => ({
        version: 1,
        kind: "live",
        title: image,
        revision: 1,
        scenes: [
          { id: "0", name: script, problem: image },
          { id: "1", name: image },
        ],
      }),
      scene: async () => overview,
      pods: async () => podOverviews(state),
      onChange: () => () => {},
    });
    closers.push(view.close);
    const { url } = view;
    const page = await opened(browser, `${url}#pods`);
    await page.locator(".grid-row").first().waitFor();
    assert.equal(await page.locator(".grid-row").count(), names.length);
    assert.match((await page.locator("main").textContent()) ?? "", /<img src=x onerror="document.title=1">/);
    for (const section of ["nodes?node=n1", "disruption", "waiting", "pools", "cost", "claims", "pods?q=%3Cimg"]) {
      await page.goto(`${url}#${section}`);
      await page.waitForTimeout(150);
      assert.equal(await page.locator("img, #page script").count(), 0, section);
      assert.equal(await page.title(), "karpenter-serverless");
    }
  },

  "several clusters, their history, and a node's own story; a month by the keyboard": async (browser) => {
    const { lab, source } = await troubledHour();
    const long = "x".repeat(253);
    const clusters: readonly Readable[] = [
      {
        id: "0",
        name: "troubled",
        read: () => liveSource("troubled", lab.deps),
        history: (range) => source.store.history(source.cluster, range),
      },
      { id: "1", name: long, read: async () => Promise.reject(new InputError("<img src=x> does not answer")) },
      {
        ...{ id: "2", name: "quiet" },
        read: async () => {
          const found = await liveSource("quiet", lab.deps);
          return { ...found, snapshot: { ...found.snapshot, ...NOTHING }, intents: {} };
        },
      },
    ];
    const shown = clusterSource(clusters, { kind: "live", title: "3 clusters", settings: DEFAULT_SETTINGS });
    await shown.look();
    const view = await serveView(shown);
    closers.push(view.close, async () => lab.close());
    const perHour = (await shown.scene("0"))?.cost.perHour ?? 0;
    for (const theme of ["light", "dark"] as const) {
      const page = await opened(browser, `${view.url}#clusters`, theme);
      const table = page.getByRole("table", { name: "3 clusters" });
      await table.waitFor();
      // Each cluster's figures are its own, and the sum is theirs.
      const cells = async (name: string) => (await table.getByRole("row").filter({ hasText: name }).first().textContent()) ?? "";
      assert.ok((await cells("troubled")).includes(`$${perHour.toFixed(4)}`), await cells("troubled"));
      assert.match(await cells("quiet"), /quiet0[0-9,]+00\$0\$0–/);
      assert.match(await cells(long), /<img src=x> does not answernot read/);
      assert.ok((await cells("all")).includes(`$${perHour.toFixed(4)}`), await cells("all"));
      assert.deepEqual(await seriousFaults(page), [], `clusters, ${theme}`);
      // A name of 253 letters pushes no figure out of sight.
      const hidden = await page.evaluate(
        "document.querySelector('.card:has(table)').scrollWidth - document.querySelector('.card:has(table)').clientWidth",
      );
      assert.equal(hidden, 0, "the table of clusters is wider than its card");

      await page.goto(`${view.url}#history`);
      const events = page.getByRole("list", { name: "Events" });
      await events.getByText(/ends \(spot_interrupted\) because Spot interruption/).waitFor();
      await events
        .getByText(/disrupted because the pods fit elsewhere for less/)
        .first()
        .waitFor();
      await events
        .getByText(/team=blue/)
        .first()
        .waitFor();
      await page.getByRole("searchbox").fill("kind:disrupted");
      await events.getByText(/spot_interrupted/).waitFor({ state: "detached" });
      await page.getByRole("searchbox").fill("");
      assert.deepEqual(await seriousFaults(page), [], `history, ${theme}`);
      await pictureOf(page, `history-${theme}`);

      // A month, by the keyboard: what consolidation and spot have saved.
      await page.goto(`${view.url}#cost`);
      await page.getByRole("combobox", { name: /^The last/ }).focus();
      await page.keyboard.press("End");
      await page.waitForFunction("location.hash.includes('days=30')");
      await page.getByText("Saved by consolidation").waitFor();
      await page.getByRole("table", { name: "In this time, by NodePool" }).waitFor();
      assert.deepEqual(await seriousFaults(page), [], `cost, ${theme}`);
      await pictureOf(page, `cost-${theme}`);

      // A node opened by the keyboard tells why it was chosen; Escape leads back to the table.
      await page.goto(`${view.url}#nodes`);
      const grid = page.getByRole("grid", { name: "Nodes" });
      await grid.getByRole("row").nth(1).waitFor();
      await grid.focus();
      for (const key of ["ArrowDown", "Home", "Enter"]) await page.keyboard.press(key);
      const details = page.getByRole("complementary");
      await details.getByText(/is the cheapest of \d+ types; next: /).waitFor();
      await details.getByText(/^What would free it:/).waitFor();
      assert.deepEqual(await seriousFaults(page), [], `details, ${theme}`);
      await pictureOf(page, `story-${theme}`);
      await page.keyboard.press("Escape");
      await details.waitFor({ state: "detached" });
      assert.equal(await page.evaluate("document.activeElement.getAttribute('aria-label')"), "Nodes");
      await page.close();
    }
  },

  "a screen reader meets landmarks, headings, a table and names for every control": async (browser) => {
    const url = await served("cli/main.ts", "view", sectionsFile());
    const page = await opened(browser, `${url}#nodes`);
    await page.locator(".grid-row").first().waitFor();
    await page
      .getByText(/^goes$/)
      .first()
      .waitFor();
    const tree = await page.locator("body").ariaSnapshot();
    for (const line of [
      /- banner:/,
      /- heading "karpenter-serverless file .*" \[level=1\]/,
      /- status: a file/,
      /- combobox "Theme"/,
      /- term: Cost\n.*- definition: \$[\d.]+\/h/,
      /- navigation "Sections":/,
      /- link "Waiting 1"/,
      /- main:/,
      /- searchbox "Search"/,
      /- status: 4 nodes, \$/,
      /- grid "Nodes":/,
      /- columnheader "Node"/,
      /- row "ready n1 25% .*stays"/,
      /- gridcell "stays"/,
      /- group "Picture of the cluster":/,
    ])
      assert.match(tree, line);
    // No control without a name.
    assert.doesNotMatch(tree, /- (button|link|combobox|searchbox|slider)(:|$)/m);
    await page.goto(`${url}#disruption`);
    await page.getByRole("heading", { name: "Why the other nodes stay" }).waitFor();
    await page.goto(`${url}#claims`);
    assert.match(await page.getByRole("main").ariaSnapshot(), /- listitem: created/);
  },

  "nothing is cut off or overlaps, from 400 to 2,000 pixels": async (browser) => {
    const url = await served("cli/main.ts", "view", sectionsFile());
    const page = await opened(browser, url);
    for (const width of [400, 1_100, 2_000]) {
      await page.setViewportSize({ width, height: 900 });
      for (const section of ["nodes?node=n1", "pods", "waiting", "claims", "pools", "disruption", "cost"]) {
        await page.goto(`${url}#${section}`);
        await page.locator("main").waitFor();
        await page.waitForTimeout(100);
        const wide = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
        assert.ok(Number(wide) <= 0, `${section} is ${wide} px too wide at ${width}`);
      }
    }
  },

  "axe finds nothing serious in any section, light and dark": async (browser) => {
    const file = sectionsFile();
    const url = await served("cli/main.ts", "view", file);
    for (const theme of ["light", "dark"] as const) {
      const page = await opened(browser, url, theme);
      for (const section of ["nodes?node=n1", "pods", "waiting", "claims", "pools", "disruption", "cost"]) {
        await page.goto(`${url}#${section}`);
        await page.locator("main").waitFor();
        await page.waitForTimeout(100);
        assert.deepEqual(await seriousFaults(page), [], `${section}, ${theme}`);
        if (theme === "dark") await pictureOf(page, section.split("?")[0] ?? "");
      }
    }
  },

  "without its token a page gets nothing, and Ctrl-C ends the command cleanly": async (browser) => {
    const url = await served("cli/main.ts", "view", sectionsFile());
    const child = children.at(-1);
    const page = await (await browser.newContext()).newPage();
    for (const path of ["", "data/index.json", "page.js", `${"a".repeat(32)}/`]) {
      const response = await page.request.get(new URL(`/${path}`, url).href);
      assert.deepEqual([response.status(), await response.text()], [404, ""], path);
    }
    // Other programs read the same data with the command lines of docs/view-data.md.
    for (const { line } of DOCUMENTED.filter(({ line }) => line.startsWith("curl "))) {
      const read = execFileSync("sh", ["-c", line], { env: { ...process.env, URL: url }, encoding: "utf8" });
      assert.match(read, /"name"/, line);
      const without = line.replace("curl -s", "curl -s -o /dev/null -w '%{http_code}'").replace(/ \| .*/, "");
      assert.equal(execFileSync("sh", ["-c", without], { env: { ...process.env, URL: new URL("/", url).href }, encoding: "utf8" }), "404");
    }
    const open = await opened(browser, url);
    await open.locator(".grid-row").first().waitFor();
    assert.ok(child);
    assert.equal(await interrupted(child), 0);
    await open.getByText("the command has ended").waitFor();
    faults.length = 0;
  },
};

/** Scrolls a table from its first to its last row, and counts the frames that are drawn. */
const SCROLL = `(async () => {
  const body = document.querySelector(".grid-body");
  const distance = body.scrollHeight - body.clientHeight;
  const began = performance.now();
  let frames = 0;
  await new Promise((resolve) => {
    const frame = (now) => {
      const share = Math.min(1, (now - began) / 2000);
      body.scrollTop = distance * share;
      frames++;
      if (share < 1) requestAnimationFrame(frame);
      else resolve();
    };
    requestAnimationFrame(frame);
  });
  return { frames, perSecond: Math.round((frames * 1000) / (performance.now() - began)) };
})()`;

/** Frames a second while a table scrolls, and processor time of the page's thread for each frame, ms. */
async function scrolled(page: Page): Promise<string> {
  const session = await page.context().newCDPSession(page);
  // Processor time does not depend on what else this machine does, as frames a second do.
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const busy = async (): Promise<number> => {
    const { metrics } = await session.send("Performance.getMetrics");
    return metrics.find(({ name }) => name === "TaskDuration")?.value ?? Number.NaN;
  };
  const before = await busy();
  const { frames, perSecond } = (await page.evaluate(SCROLL)) as { readonly frames: number; readonly perSecond: number };
  return `${perSecond}, ${((((await busy()) - before) * 1_000) / frames).toFixed(1)} ms of processor each`;
}

const browser = await chromium.launch({ executablePath: BROWSER, args: [...FLAGS] });
// `--only WORD` runs the checks whose name holds it.
const onlyAt = process.argv.indexOf("--only");
const only = onlyAt < 0 ? undefined : process.argv[onlyAt + 1];
let [ran, failed] = [0, 0];
try {
  for (const [name, check] of Object.entries(checks).filter(([name]) => only === undefined || name.includes(only))) {
    ran += 1;
    const began = performance.now();
    faults.length = 0;
    try {
      await check(browser);
      assert.deepEqual(faults, []);
      console.log(`ok      ${name} (${((performance.now() - began) / 1_000).toFixed(1)} s)`);
    } catch (error) {
      failed += 1;
      console.log(`FAILED  ${name}: ${error instanceof Error ? error.message : String(error)}`);
    }
    for (const context of browser.contexts()) await context.close();
    for (const close of closers.splice(0)) await close();
    for (const child of children.splice(0)) child.kill();
  }
} finally {
  await browser.close();
  for (const child of children) child.kill();
  rmSync(folder, { recursive: true });
}
console.log(`${ran - failed} passed, ${failed} failed`);
process.exitCode = failed === 0 && ran > 0 ? 0 : 1;
