import type { CheckCloud, CheckPorts, Message } from "#installer/account-check/ports.ts";

/** What an account does, of which a test changes one thing. */
export interface Habits {
  /** Hops after which Lambda stops a chain. */
  readonly stopsAfter: number;
  /** Whether the longest chain of a batch counts for all its messages. */
  readonly sharesCount: boolean;
  /** Whether the guard stops a chain of a function that allows it. */
  readonly ignoresAllow: boolean;
  readonly keepsGroups: boolean;
  readonly initMs: number;
  readonly keepsTable: boolean;
  /** Why the stack with the functions cannot be made; empty when it can. */
  readonly refusesStack: string;
  readonly maySimplyPass: boolean;
  /** ms until EC2 lists a machine. */
  readonly listsAfter: number;
  readonly holdsTokens: boolean;
  readonly endsAfter: number;
  readonly hasSpotRole: boolean;
}

const USUAL: Habits = {
  ...{ stopsAfter: 16, sharesCount: true, ignoresAllow: false, keepsGroups: true, initMs: 400, keepsTable: false, refusesStack: "" },
  ...{ maySimplyPass: false, listsAfter: 4_000, holdsTokens: true, endsAfter: 45_000, hasSpotRole: true },
};

const HOP_MS = 2_500;
const STACK_MS = 60_000;

interface Stack {
  readonly isLoop: boolean;
  readonly madeAt: number;
  deletedAt?: number;
}

interface Machine {
  readonly launchedAt: number;
  readonly run: string;
  endedAt?: number;
}

export class Killed extends Error {}

/** An AWS account whose time passes only while somebody sleeps. */
export class FakeAccount {
  now = Date.parse("2026-11-28T12:00:00Z");
  readonly stacks = new Map<string, Stack>();
  readonly tables = new Set<string>();
  readonly templates = new Map<string, string>();
  readonly machines = new Map<string, Machine>();
  /** Messages by the URL of their queue, with the time from which they can be taken. */
  readonly messages = new Map<string, { readonly message: Message; readonly from: number }[]>();
  readonly #tokens = new Map<string, string>();
  /** The rights that were used, in order. */
  readonly used: string[] = [];
  /** Rights that the caller does not have. */
  readonly refused = new Set<string>();
  killAt: { readonly call: number; readonly when: "before" | "after" } | undefined;
  agrees: boolean | undefined = true;
  readonly #habits: Habits;

  constructor(habits: Partial<Habits> = {}) {
    this.#habits = { ...USUAL, ...habits };
  }

  /** What costs money or is in the way of a later run. */
  left(): readonly string[] {
    this.#settle();
    const alive = [...this.machines].filter(([, { endedAt }]) => endedAt === undefined).map(([id]) => id);
    return [...this.stacks.keys(), ...this.tables, ...this.templates.keys(), ...alive];
  }

  ports(): CheckPorts {
    return {
      cloud: { ...this.#stackCalls(), ...this.#lambdaCalls(), ...this.#machineCalls() },
      notifyCode: async () => new Uint8Array(),
      confirm: async () => this.agrees,
      now: () => this.now,
      sleep: async (ms) => {
        this.now += ms;
      },
      newId: () => "run00001-1234",
    };
  }

  async #call<T>(right: string, effect: () => T): Promise<T> {
    if (this.refused.has(right)) throw new Error(`User: arn:aws:iam::1:user/me is not authorized to perform: ${right} on resource: *`);
    const left = this.killAt === undefined ? Number.POSITIVE_INFINITY : this.killAt.call - this.used.length - 1;
    if (left < 0 || (left === 0 && this.killAt?.when === "before")) throw new Killed("killed");
    this.used.push(right);
    this.#settle();
    const value = effect();
    if (left === 0) throw new Killed("killed");
    return value;
  }

  /** What has happened by now. */
  #settle(): void {
    for (const [name, { isLoop, madeAt, deletedAt }] of this.stacks) {
      if (deletedAt !== undefined && this.now >= deletedAt + STACK_MS) this.stacks.delete(name);
      if (!isLoop && !this.#habits.keepsTable && this.now >= Math.min(madeAt, deletedAt ?? madeAt) + STACK_MS)
        this.tables.delete(name.replace("rollback", "table"));
    }
  }

  #statusOf({ isLoop, madeAt, deletedAt }: Stack): string {
    if (deletedAt !== undefined) return "DELETE_IN_PROGRESS";
    const isBad = !isLoop || this.#habits.refusesStack !== "";
    if (this.now < madeAt + STACK_MS) return isBad ? "ROLLBACK_IN_PROGRESS" : "CREATE_IN_PROGRESS";
    return isBad ? "ROLLBACK_COMPLETE" : "CREATE_COMPLETE";
  }

  #stackCalls() {
    return {
      caller: () => this.#call("sts:GetCallerIdentity", () => ({ account: "111122223333", arn: "arn:aws:iam::1:user/me" })),
      maySimplyPass: () => this.#call("iam:SimulatePrincipalPolicy", () => this.#habits.maySimplyPass),
      hasRole: () => this.#call("iam:GetRole", () => this.#habits.hasSpotRole),
      createStack: ({ name, template }: { readonly name: string; readonly template: string }) =>
        this.#call("cloudformation:CreateStack", () => {
          const isLoop = template.includes("AWS::Lambda::Function");
          this.stacks.set(name, { isLoop, madeAt: this.now });
          if (!isLoop) this.tables.add(name.replace("rollback", "table"));
        }),
      stack: (name: string) =>
        this.#call("cloudformation:DescribeStacks", () => {
          const stack = this.stacks.get(name);
          const names = ["AllowQueue", "AllowDead", "TerminateQueue", "TerminateDead", "Groups", "Cold", "RoleArn"];
          return stack && { status: this.#statusOf(stack), outputs: Object.fromEntries(names.map((one) => [one, one])) };
        }),
      failure: () => this.#call("cloudformation:DescribeStackEvents", () => this.#habits.refusesStack),
      removeStack: (name: string) =>
        this.#call("cloudformation:DeleteStack", () => {
          const stack = this.stacks.get(name);
          if (stack !== undefined) stack.deletedAt ??= this.now;
        }),
      stacks: (prefix: string) =>
        this.#call("cloudformation:DescribeStacks", () => [...this.stacks.keys()].filter((name) => name.startsWith(prefix))),
      tables: (prefix: string) => this.#call("dynamodb:ListTables", () => [...this.tables].filter((name) => name.startsWith(prefix))),
      removeTable: (name: string) => this.#call("dynamodb:DeleteTable", () => void this.tables.delete(name)),
    } satisfies Partial<CheckCloud>;
  }

  #lambdaCalls() {
    return {
      send: (queueUrl: string, message: Message) => this.#call("sqs:SendMessage", () => this.#send(queueUrl, message)),
      take: (queueUrl: string) =>
        this.#call("sqs:ReceiveMessage", () => {
          const all = this.messages.get(queueUrl) ?? [];
          const ready = all.filter(({ from }) => from <= this.now);
          this.messages.set(
            queueUrl,
            all.filter((one) => !ready.includes(one)),
          );
          return ready.map(({ message: { group, ...message } }) =>
            this.#habits.keepsGroups && group !== undefined ? { ...message, group } : message,
          );
        }),
      replaceCode: () => this.#call("lambda:UpdateFunctionCode", () => {}),
      renew: () => this.#call("lambda:UpdateFunctionConfiguration", () => {}),
      invoke: () => this.#call("lambda:InvokeFunction", () => ({ durationMs: 100, initMs: this.#habits.initMs })),
    } satisfies Partial<CheckCloud>;
  }

  /** What a loop makes of a chain's first message, or a message that stays. */
  #send(queueUrl: string, message: Message): void {
    const { stopsAfter, sharesCount, ignoresAllow } = this.#habits;
    const put = (queue: string, body: string, from: number) =>
      this.messages.set(queue, [...(this.messages.get(queue) ?? []), { message: { ...message, body }, from }]);
    const [, loop] = /^(Allow|Terminate)Queue$/.exec(queueUrl) ?? [];
    if (loop === undefined) return void put(queueUrl, message.body, this.now);
    const { chain } = JSON.parse(message.body) as { readonly chain: string };
    const isStopped = loop === "Terminate" || ignoresAllow;
    const stoppedAt = chain === "b" && sharesCount ? stopsAfter - 8 : stopsAfter;
    const hop = isStopped ? stoppedAt : 24;
    put(`${loop}Dead`, JSON.stringify({ chain, hop, together: chain === "allowed" ? 1 : 2 }), this.now + hop * HOP_MS + 30_000);
  }

  #machineCalls() {
    const isListed = ({ launchedAt }: Machine): boolean => this.now >= launchedAt + this.#habits.listsAfter;
    return {
      createTemplate: ({ name, tags }: { readonly name: string; readonly tags: Readonly<Record<string, string>> }) =>
        this.#call("ec2:CreateLaunchTemplate", () => void this.templates.set(name, Object.values(tags)[0] ?? "")),
      templates: ({ value }: { readonly value?: string }) =>
        this.#call("ec2:DescribeLaunchTemplates", () =>
          [...this.templates].flatMap(([name, run]) => (value === undefined || run === value ? [name] : [])),
        ),
      removeTemplate: (name: string) => this.#call("ec2:DeleteLaunchTemplate", () => void this.templates.delete(name)),
      launch: ({ token, tags }: { readonly token: string; readonly tags: Readonly<Record<string, string>> }) =>
        this.#call("ec2:CreateFleet", () => {
          const known = this.#habits.holdsTokens ? this.#tokens.get(token) : undefined;
          const id = known ?? `i-${this.machines.size + 1}`;
          if (known === undefined) this.machines.set(id, { launchedAt: this.now, run: Object.values(tags)[0] ?? "" });
          this.#tokens.set(token, id);
          return [id];
        }),
      state: (id: string) =>
        this.#call("ec2:DescribeInstances", () => {
          const machine = this.machines.get(id);
          if (machine === undefined || !isListed(machine)) return undefined;
          const { launchedAt, endedAt } = machine;
          if (endedAt !== undefined) return this.now >= endedAt + this.#habits.endsAfter ? "terminated" : "shutting-down";
          return this.now >= launchedAt + 20_000 ? "running" : "pending";
        }),
      instances: ({ value }: { readonly value?: string }) =>
        this.#call("ec2:DescribeInstances", () =>
          [...this.machines].flatMap(([id, machine]) =>
            isListed(machine) && machine.endedAt === undefined && (value === undefined || machine.run === value) ? [id] : [],
          ),
        ),
      terminate: (ids: readonly string[]) =>
        this.#call("ec2:TerminateInstances", () => {
          for (const id of ids) {
            const machine = this.machines.get(id);
            if (machine !== undefined) machine.endedAt ??= this.now;
          }
        }),
    } satisfies Partial<CheckCloud>;
  }
}
