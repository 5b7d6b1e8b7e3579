import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { planOf, STEPS } from "#installer/account-check/plan.ts";
import { accountCheckPolicy } from "#installer/account-check/policy.ts";
import { accountCheck, type CheckReport, cleanAccount } from "#installer/account-check/run.ts";
import { ACCOUNT_KILLS_EVERY } from "../../support/effort.ts";
import { FakeAccount, type Habits } from "./fake-account.ts";

const OPTIONS = { region: "us-west-2", subnet: "subnet-1", yes: true, dryRun: false };

async function check(
  account: FakeAccount,
  options: { readonly subnet?: string | undefined; readonly yes?: boolean; readonly dryRun?: boolean } = {},
) {
  const printed: string[] = [];
  const { answer, report } = await accountCheck({ ...OPTIONS, ...options }, account.ports(), (line) => void printed.push(line));
  return { ...answer, report, printed };
}

const outcomes = (report: CheckReport | undefined) => Object.fromEntries((report?.steps ?? []).map(({ name, outcome }) => [name, outcome]));
const seenOf = (report: CheckReport | undefined, name: string) => report?.steps.find((step) => step.name === name)?.seen;

describe("account-check", () => {
  it("in an account that does what the product is built on, each step is as expected, and nothing is left", async () => {
    const account = new FakeAccount();
    const { report, isUsable, output, printed } = await check(account);
    expect(outcomes(report)).toEqual(Object.fromEntries(STEPS.map(({ name }) => [name, "as expected"])));
    expect({ isUsable, left: account.left(), said: report?.left }).toEqual({ isUsable: true, left: [], said: [] });
    expect(printed[0]).toMatch(/^account-check in account 111122223333, us-west-2: at most \d\d minutes and \$0\.02$/);
    expect(output).toContain('  place  core/lifecycle/termination.ts, "MAX_LOST_LAUNCH_MS"');
    expect(report).toMatchObject({ run: "run00001", account: "111122223333", began: "2026-11-28T12:00:00.000Z" });
    expect(Date.parse(report?.ended ?? "") - Date.parse(report?.began ?? "")).toBeLessThan(60 * 60_000);
  });

  it.for<{ step: string; habits: Partial<Habits>; seen: string; outcome?: string }>([
    {
      step: "pass-role",
      habits: { refusesStack: "Allow: User is not authorized to perform: iam:PassRole" },
      seen: "The stack is ROLLBACK_COMPLETE: Allow: User is not authorized to perform: iam:PassRole",
    },
    {
      step: "pass-role",
      habits: { maySimplyPass: true },
      seen: "you may pass its role otherwise, too; use the rights",
      outcome: "undecided",
    },
    { step: "message-groups", habits: { keepsGroups: false }, seen: "The message has no group." },
    { step: "recursion", habits: { ignoresAllow: true }, seen: "With RecursiveLoop Allow the chain ended after 16 hops." },
    { step: "recursion", habits: { stopsAfter: 20 }, seen: "it is stopped after 20 hops; the longest chain of a batch counts" },
    { step: "recursion", habits: { sharesCount: false }, seen: "each message has the count of its own chain", outcome: "as expected" },
    { step: "cold-start", habits: { initMs: 1_200 }, seen: "The longest of 5 cold starts took 1300 ms." },
    { step: "rollback", habits: { keepsTable: true }, seen: "The stack is ROLLBACK_COMPLETE, and the table is still there." },
    { step: "spot-role", habits: { hasSpotRole: false }, seen: "There is no such role; make it" },
    { step: "describe-lag", habits: { listsAfter: 90_000 }, seen: "By its id after 90000 ms, by its tag after 90000 ms." },
    { step: "describe-lag", habits: { listsAfter: 999_000 }, seen: "After three minutes EC2 does not list i-1 by its id." },
    { step: "fleet-token", habits: { holdsTokens: false }, seen: "EC2 launched another machine: i-2." },
    { step: "termination", habits: { endsAfter: 120_000 }, seen: "It took 120 s." },
  ])("$step: $seen", async ({ step, habits, seen, outcome = "differs" }) => {
    const account = new FakeAccount(habits);
    const { report } = await check(account);
    expect({ outcome: outcomes(report)[step], seen: seenOf(report, step) }).toEqual({ outcome, seen: expect.stringContaining(seen) });
    // A machine that EC2 lists after a quarter of an hour is out of reach for both.
    if (habits.listsAfter !== 999_000) expect(account.left()).toEqual([]);
  });

  it.for([
    { right: "cloudformation:CreateStack", skipped: ["pass-role", "message-groups", "recursion", "cold-start", "rollback"] },
    { right: "lambda:UpdateFunctionConfiguration", skipped: ["cold-start"] },
    { right: "sqs:SendMessage", skipped: ["message-groups", "recursion"] },
    { right: "iam:GetRole", skipped: ["spot-role"] },
    { right: "ec2:CreateLaunchTemplate", skipped: ["describe-lag", "fleet-token", "termination"] },
    { right: "ec2:CreateFleet", skipped: ["describe-lag", "fleet-token", "termination"] },
  ])("without the right $right its steps are skipped with the reason, and the others run", async ({ right, skipped }) => {
    const account = new FakeAccount();
    account.refused.add(right);
    const { report } = await check(account);
    const found = outcomes(report);
    expect(Object.keys(found).filter((name) => found[name] === "skipped")).toEqual(skipped);
    expect(Object.values(found).filter((one) => !["skipped", "as expected"].includes(one))).toEqual([]);
    expect(seenOf(report, skipped[0] ?? "")).toBe(`You have no right ${right}; --policy prints those that are needed.`);
    expect(account.left()).toEqual([]);
  });

  it("a right to remove that is missing is said, with the command that removes the rest later", async () => {
    const account = new FakeAccount();
    account.refused.add("ec2:DeleteLaunchTemplate");
    const { output, isUsable } = await check(account);
    expect(isUsable).toBe(false);
    expect(output).toMatch(
      /not removed: launch templates: .*ec2:DeleteLaunchTemplate.*; run karpenter-serverless account-check --clean --run run00001\n$/,
    );
    account.refused.clear();
    expect((await cleanAccount("run00001", account.ports())).output).toContain(
      "removed: launch template karpenter-serverless-check-run00001-machine",
    );
    expect(account.left()).toEqual([]);
  });

  it("without a subnet no machine is launched, and the plan says why", async () => {
    const account = new FakeAccount();
    const { report, printed } = await check(account, { subnet: undefined });
    expect(account.machines.size).toBe(0);
    expect(outcomes(report)).toMatchObject({
      "describe-lag": "skipped",
      "fleet-token": "skipped",
      termination: "skipped",
      recursion: "as expected",
    });
    expect(printed).toContain("describe-lag: left out, because it launches a machine; give --subnet SUBNET-ID");
  });
});

describe("before anything is made", () => {
  it("--dry-run prints machines, costs and calls, and calls nothing", async () => {
    const account = new FakeAccount();
    const { printed, report } = await check(account, { dryRun: true });
    expect({ used: account.used, report }).toEqual({ used: [], report: undefined });
    expect(printed).toContain("at most 2 machines t4g.nano × 10 min × $0.0042 an hour = $0.0014");
    for (const { name, calls } of STEPS) {
      expect(printed.some((line) => line.startsWith(`${name}: `))).toBe(true);
      expect(printed).toContain(`  calls ${calls.join(", ")}`);
    }
  });

  it.for([
    { agrees: undefined, says: "there is no terminal to ask at; give --yes" },
    { agrees: false, says: "nothing was made: you did not agree" },
  ])("a person who answers $agrees makes nothing", async ({ agrees, says }) => {
    const account = new FakeAccount();
    account.agrees = agrees;
    await expect(check(account, { yes: false })).rejects.toThrow(says);
    expect(account.used).toEqual(["sts:GetCallerIdentity"]);
  });

  it("credentials that AWS does not accept are one sentence, also for --clean", async () => {
    const account = new FakeAccount();
    account.refused.add("sts:GetCallerIdentity");
    const says = /^AWS does not accept your credentials \(.*\); sign in with aws sso login, or set AWS_PROFILE$/;
    await expect(check(account)).rejects.toThrow(says);
    await expect(cleanAccount(undefined, account.ports())).rejects.toThrow(says);
  });

  it("takes an hour at most, and launches at most two machines of the smallest type", () => {
    const { minutes, machines, dollars } = planOf("subnet-1");
    expect(minutes).toBeLessThanOrEqual(60);
    expect(machines.map(({ type, count }) => ({ type, count }))).toEqual([{ type: "t4g.nano", count: 2 }]);
    expect(dollars).toBe(0.02);
    expect(planOf(undefined).machines).toEqual([]);
  });

  it("each step names a place in the sources that is there", () => {
    for (const { place } of STEPS) expect(readFileSync(place.file, "utf8")).toContain(place.text);
  });

  it("the policy has each right that is used, and no action on everything but reads, launches and what CloudFormation does", async () => {
    const account = new FakeAccount();
    await check(account);
    const { Statement } = accountCheckPolicy("us-west-2", "1") as {
      readonly Statement: readonly {
        readonly Sid: string;
        readonly Action: readonly string[];
        readonly Resource: unknown;
        readonly Condition?: object;
      }[];
    };
    const direct = Statement.filter(({ Sid }) => !Sid.endsWith("ByCloudFormation")).flatMap(({ Action }) => Action);
    expect([...new Set(account.used)].filter((right) => !direct.includes(right))).toEqual([]);
    const wide = Statement.filter(({ Resource, Condition }) => Resource === "*" && Condition === undefined).map(({ Sid }) => Sid);
    expect(wide).toEqual(["Look", "Launch"]);
    expect(direct).not.toContain("iam:PassRole");
    expect(JSON.stringify(accountCheckPolicy("cn-north-1", "1"))).not.toContain("arn:aws:");
  });
});

describe("a run that is killed", () => {
  it("at any call, before or after its effect, leaves nothing behind once --clean has run, twice", async () => {
    const whole = new FakeAccount({ listsAfter: 40_000 });
    await check(whole);
    const calls = whole.used.length;
    expect(calls).toBeGreaterThan(100);
    for (let call = 1; call <= calls; call += ACCOUNT_KILLS_EVERY) {
      for (const when of ["before", "after"] as const) {
        const account = new FakeAccount({ listsAfter: 40_000 });
        account.killAt = { call, when };
        await check(account).catch(() => undefined);
        account.killAt = undefined;
        await cleanAccount(undefined, account.ports());
        expect([call, when, account.left()]).toEqual([call, when, []]);
        expect((await cleanAccount(undefined, account.ports())).output).toBe("nothing of account-check is there\n");
      }
    }
  });

  it("a machine that EC2 lists only after 50 s is found by --clean", async () => {
    const account = new FakeAccount({ listsAfter: 50_000 });
    account.machines.set("i-1", { launchedAt: account.now, run: "run00001" });
    await cleanAccount(undefined, account.ports());
    expect(account.left()).toEqual([]);
  });

  it("of one run, --clean --run removes that one alone", async () => {
    const account = new FakeAccount();
    account.templates.set("karpenter-serverless-check-other-machine", "other");
    account.stacks.set("karpenter-serverless-check-other-loop", { isLoop: true, madeAt: 0 });
    account.stacks.set("karpenter-serverless", { isLoop: true, madeAt: 0 });
    account.stacks.set("karpenter-serverless-check-mine-loop", { isLoop: true, madeAt: 0 });
    await cleanAccount("mine", account.ports());
    expect(account.left()).toEqual([
      "karpenter-serverless-check-other-loop",
      "karpenter-serverless",
      "karpenter-serverless-check-other-machine",
    ]);
    await cleanAccount(undefined, account.ports());
    expect(account.left()).toEqual(["karpenter-serverless"]);
  });
});
