import { deployedOf } from "#infra/deployed.ts";
import { parseSettings } from "#infra/settings.ts";
import type { ChangeSet } from "#installer/account/change-sets.ts";
import type { UpgradePorts } from "#installer/account/ports.ts";
import { Installed } from "../checks/world.ts";

/** An installation of an older release, that works. */
export class Older extends Installed {
  changeSet: (ChangeSet & { readonly templateUrl: string }) | undefined;
  /** For so many looks a change set is still computed. */
  slowChangeSet = 1;
  /** What CloudFormation says instead of computing it. */
  refusal: string | undefined;

  constructor(settings: object = { clusters: [{ name: "c1" }], region: "us-west-2" }) {
    super();
    const deployed = deployedOf(parseSettings(settings, "test"));
    this.metadata = { "karpenter-serverless": { ...deployed, version: "0.0.9" } };
    if (this.stack !== undefined) {
      this.stack.templateUrl = "https://bucket/older.json";
      this.stack.outputs = { ...this.stack.outputs, Version: "0.0.9" };
    }
    for (const [key, object] of this.objects) {
      if (object.kind !== "CustomResourceDefinition") continue;
      const annotations = { "karpenter-serverless/version": "0.0.9" };
      const { versions } = object.spec as { readonly versions: readonly { readonly name: string }[] };
      const storedVersions = versions.map(({ name }) => name);
      this.objects.set(key, { ...object, metadata: { ...object.metadata, annotations }, status: { storedVersions } });
    }
    this.calls = 0;
  }

  upgradePorts(): UpgradePorts {
    const ports = this.ports();
    const { inspector, live } = this.installationPorts();
    let looks = 0;
    return {
      ...ports,
      ...{ inspector, live, now: () => this.now, confirm: async () => this.agrees, records: () => this.records },
      changeSets: {
        create: (_, __, templateUrl) =>
          this.call(() => {
            if (this.changeSet !== undefined) throw new Error("ChangeSet already exists");
            looks = 0;
            const isSame = this.stack?.templateUrl === templateUrl;
            const reason = this.refusal ?? (isSame ? "The submitted information didn't contain changes." : "");
            this.changeSet = { status: reason === "" ? "CREATE_COMPLETE" : "FAILED", reason, changes: CHANGES, templateUrl };
          }),
        describe: () =>
          this.call(() => {
            looks += 1;
            return this.changeSet && looks <= this.slowChangeSet ? { ...this.changeSet, status: "CREATE_IN_PROGRESS" } : this.changeSet;
          }),
        execute: (name) =>
          this.call(() => {
            if (this.changeSet === undefined) throw new Error("ChangeSet does not exist");
            const { templateUrl } = this.changeSet;
            this.changeSet = undefined;
            this.begin(name, templateUrl);
          }),
        remove: () =>
          this.call(() => {
            this.changeSet = undefined;
          }),
      },
    };
  }
}

const CHANGES: ChangeSet["changes"] = [
  {
    ...({ action: "Modify", replacement: "False" } as const),
    ...{ name: "Provision", id: "karpenter-serverless-provision", type: "AWS::Lambda::Function", what: ["Code", "Tags"] },
  },
  {
    ...({ action: "Add", replacement: "False" } as const),
    ...{ name: "NewQueue1A2B", id: "", type: "AWS::SQS::Queue", what: [] },
  },
  {
    ...({ action: "Modify", replacement: "True" } as const),
    ...{ name: "Intents1A2B", id: "karpenter-serverless-Intents", type: "AWS::DynamoDB::Table", what: ["KeySchema"] },
  },
  {
    ...({ action: "Remove", replacement: "False" } as const),
    ...{ name: "Old", id: "https://sqs/1/OldQueue", type: "AWS::SQS::Queue", what: [] },
  },
];
